"""A chatbot that remembers its user in every thread: `python chatbot.py openai:gpt-5.4-mini`."""

import sys

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model

import remembrancer
from remembrancer.integrations.langgraph import (
    MemoryMiddleware,
    langchain_models,
    of_run,
    open_saver,
    run_config,
)


def chat(model, place="chatbot", thread="first", ask=input):
    with (
        remembrancer.open(place, models=langchain_models(model)) as people,
        open_saver(f"{place}.db") as saver,
    ):
        memory = MemoryMiddleware(of_run(people))
        bot = create_agent(model, middleware=[memory], checkpointer=saver)
        while words := ask("> "):
            state = bot.invoke({"messages": words}, run_config("home", "me", thread))
            print(state["messages"][-1].text)


if __name__ == "__main__":
    chat(init_chat_model(sys.argv[1]) if len(sys.argv) > 1 else sys.exit(__doc__))
