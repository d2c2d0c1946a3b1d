"""What does a client of the Python SDK, generation 1, see of a server? One line of JSON for each thing done.

py1.py stdio|http|sse CONTROL TARGET...     (TARGET: a command, or a URL; CONTROL: see `reference --control`)
"""

import json
import logging
import sys
from contextlib import AsyncExitStack

import anyio
import httpx
from mcp import ClientSession, McpError, StdioServerParameters, stdio_client, types
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

LIMIT = 10  # seconds until a notification is overdue
GREETING = "litmus://text/greeting"
ADDED = "litmus://text/added"
KIND, CONTROL, *TARGET = sys.argv[1:]

exchanges = set()  # which HTTP requests got which status
told = []  # notifications since the last look
news = anyio.Event()


def say(did, **facts):
    print(json.dumps({"did": did, **facts}, ensure_ascii=False), flush=True)


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def change(line):
    with open(CONTROL, "a") as control:
        control.write(line + "\n")


async def exchanged(response):
    exchanges.add(f"{response.request.method} {response.status_code}")


def http_client(headers=None, timeout=None, auth=None):
    timeout = timeout or httpx.Timeout(30, read=300)
    return httpx.AsyncClient(headers=headers, timeout=timeout, auth=auth, event_hooks={"response": [exchanged]})


async def connect(stack):
    if KIND == "stdio":
        return await stack.enter_async_context(stdio_client(StdioServerParameters(command=TARGET[0], args=TARGET[1:])))
    if KIND == "sse":
        return await stack.enter_async_context(sse_client(TARGET[0], httpx_client_factory=http_client))
    client = await stack.enter_async_context(http_client())
    return (await stack.enter_async_context(streamable_http_client(TARGET[0], http_client=client)))[:2]


async def hear(message):
    """Notes a notification; anything else that comes by itself is a line that nobody expects."""
    global news
    match getattr(message, "root", message):
        case types.ResourceUpdatedNotification(params=params):
            told.append(f"updated {params.uri}")
        case types.ResourceListChangedNotification():
            told.append("list changed")
        case other:
            say("complain", error=str(other))
    news.set()
    news = anyio.Event()


async def tidings(what):
    """All that was told until `what` came, or until the limit."""
    with anyio.move_on_after(LIMIT):
        while what not in told:
            await news.wait()
    everything = told[:]
    told.clear()
    return everything


async def collect(ask, key):
    """All pages, and how many there were."""
    items, pages, cursor = [], 0, None
    while not pages or cursor is not None:
        page = await ask(params=types.PaginatedRequestParams(cursor=cursor))
        items += getattr(page, key)
        pages, cursor = pages + 1, page.nextCursor
    return items, pages


async def play(session):
    async def is_listed(uri):
        items, _ = await collect(session.list_resources, "resources")
        return uri in [str(item.uri) for item in items]

    async def read(uri):
        result = await session.read_resource(uri)
        say("read", uri=uri, contents=[plain(content) for content in result.contents])

    opened = await session.initialize()
    resources = plain(opened.capabilities.resources)
    say("open", revision=opened.protocolVersion, server=opened.serverInfo.name, resources=resources)
    items, pages = await collect(session.list_resources, "resources")
    say("list", pages=pages, uris=[str(item.uri) for item in items], first=plain(items[0]))
    items, pages = await collect(session.list_resource_templates, "resourceTemplates")
    say("list templates", pages=pages, templates=[item.uriTemplate for item in items])
    for uri in (GREETING, "litmus://data/all-bytes", "file:///litmus/docs/", "litmus://notes/7"):
        await read(uri)
    try:
        await read("litmus://nowhere")
    except McpError as error:
        say("fail to read", raised=type(error).__name__, code=error.error.code, data=error.error.data)

    await session.subscribe_resource(GREETING)
    change(f"touch {GREETING}")
    say("touch", told=await tidings(f"updated {GREETING}"))
    await read(GREETING)
    change(f"add {ADDED}")
    say("add", told=await tidings("list changed"))
    say("list anew", added=await is_listed(ADDED))

    # Were the touch still told, then before the removal.
    await session.unsubscribe_resource(GREETING)
    change(f"touch {GREETING}")
    change(f"remove {ADDED}")
    say("touch and remove", told=await tidings("list changed"))
    say("list anew", added=await is_listed(ADDED))


async def main():
    logging.basicConfig(level=logging.WARNING)
    async with AsyncExitStack() as stack:
        streams = await connect(stack)
        await play(await stack.enter_async_context(ClientSession(*streams, message_handler=hear)))
    say("close", exchanges=sorted(exchanges))


anyio.run(main)
