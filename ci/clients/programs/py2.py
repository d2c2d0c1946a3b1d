"""What does a client of the Python SDK, generation 2, see of a server? One line of JSON for each thing done.

py2.py stdio|http|sse CONTROL TARGET...     (TARGET: a command, or a URL; CONTROL: see `reference --control`)
"""

import json
import logging
import sys
import warnings
from contextlib import asynccontextmanager

import anyio
import httpx2
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPDeprecationWarning

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
    timeout = timeout or httpx2.Timeout(30, read=300)
    return httpx2.AsyncClient(headers=headers, timeout=timeout, auth=auth, event_hooks={"response": [exchanged]})


def target():
    if KIND == "stdio":
        return StdioServerParameters(command=TARGET[0], args=TARGET[1:])
    if KIND == "sse":
        return sse_client(TARGET[0], httpx_client_factory=http_client)
    return streamable_http_client(TARGET[0], http_client=http_client())


async def hear(message):
    """Notes a notification; anything else that comes by itself is a line that nobody expects."""
    global news
    match message:
        case types.ResourceUpdatedNotification(params=params):
            told.append(f"updated {params.uri}")
        case types.ResourceListChangedNotification():
            told.append("list changed")
        case other:
            say("complain", error=str(other))
    news.set()
    news = anyio.Event()


@asynccontextmanager
async def watch(client, uris):
    """Is told of changes of the list and of these URIs, in the way of the revision."""
    if client.protocol_version < "2026-07-28":
        for uri in uris:
            await client.subscribe_resource(uri)
        yield
        for uri in uris:
            await client.unsubscribe_resource(uri)
        return

    events = []

    async def follow(subscription):
        async for event in subscription:
            events.append(f"updated {event.uri}" if isinstance(event, ResourceUpdated) else "list changed")

    async with client.listen(resources_list_changed=True, resource_subscriptions=uris) as subscription:
        say("listen", honored=plain(subscription.honored))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, subscription)
            yield
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
    # The message handler hears all that came, the stream what was asked for.
    say("hear", events=events)


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
        page = await ask(cursor=cursor)
        items += getattr(page, key)
        pages, cursor = pages + 1, page.next_cursor
    return items, pages


async def play(client):
    async def is_listed(uri):
        items, _ = await collect(client.list_resources, "resources")
        return uri in [item.uri for item in items]

    async def read(uri):
        result = await client.read_resource(uri)
        say("read", uri=uri, contents=[plain(content) for content in result.contents])

    resources = plain(client.server_capabilities.resources)
    say("open", revision=client.protocol_version, server=client.server_info.name, resources=resources)
    items, pages = await collect(client.list_resources, "resources")
    say("list", pages=pages, uris=[item.uri for item in items], first=plain(items[0]))
    items, pages = await collect(client.list_resource_templates, "resource_templates")
    say("list templates", pages=pages, templates=[item.uri_template for item in items])
    for uri in (GREETING, "litmus://data/all-bytes", "file:///litmus/docs/", "litmus://notes/7"):
        await read(uri)
    try:
        await read("litmus://nowhere")
    except MCPError as error:
        say("fail to read", raised=type(error).__name__, code=error.code, data=error.data)

    async with watch(client, [GREETING]):
        change(f"touch {GREETING}")
        say("touch", told=await tidings(f"updated {GREETING}"))
        await read(GREETING)
        change(f"add {ADDED}")
        say("add", told=await tidings("list changed"))
        say("list anew", added=await is_listed(ADDED))

    # Were the touch still told, then before the removal.
    async with watch(client, []):
        change(f"touch {GREETING}")
        change(f"remove {ADDED}")
        say("touch and remove", told=await tidings("list changed"))
        say("list anew", added=await is_listed(ADDED))


async def main():
    logging.basicConfig(level=logging.WARNING)
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    async with Client(target(), message_handler=hear) as client:
        await play(client)
    say("close", exchanges=sorted(exchanges))


anyio.run(main)
