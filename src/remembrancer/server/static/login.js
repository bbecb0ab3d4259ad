// Signs in with the code behind the # of a login link, and takes it out of the address.
"use strict";

const form = document.querySelector("form");

function signIn() {
  const code = location.hash.slice(1);
  if (!code) return;
  history.replaceState(null, "", location.pathname);
  form.elements.code.value = code;
  form.submit();
}

// A page that is only rendered in advance must not use the code up.
function start() {
  if (document.prerendering) document.addEventListener("prerenderingchange", signIn, { once: true });
  else signIn();
}

addEventListener("hashchange", start);
start();
