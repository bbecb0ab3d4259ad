"""A chatbot that remembers its user: run it twice, and ask it in the second chat about the first.

python chatbot.py                      # a stand-in for a model that tells what it remembers
pip install langchain-openai           # or the package of another provider
OPENAI_API_KEY=… python chatbot.py openai:gpt-5.4-mini
"""

import sys
from uuid import uuid4

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import SimpleChatModel

import remembrancer
from remembrancer.integrations import langgraph as memory


class Echo(SimpleChatModel):
    _llm_type = property(lambda _: "echo")

    def _call(self, messages, *_, **__):
        known = [one for one in messages[0].text.splitlines() if one.startswith("- ")]
        return "\n".join(known) or "I know nothing of that yet."


def chat(model=None, place="chatbot", thread=None, ask=input):
    run = memory.run_config("home", "me", thread or uuid4().hex)
    models = memory.langchain_models(model) if model else None
    with (
        remembrancer.open(place, models=models) as people,
        memory.open_saver(f"{place}.db") as saver,
    ):
        recall_and_learn = memory.MemoryMiddleware(memory.of_run(people))
        bot = create_agent(model or Echo(), middleware=[recall_and_learn], checkpointer=saver)
        while words := ask("> "):
            print(bot.invoke({"messages": words}, run)["messages"][-1].text)


if __name__ == "__main__":
    chat(init_chat_model(sys.argv[1]) if len(sys.argv) > 1 else None)
