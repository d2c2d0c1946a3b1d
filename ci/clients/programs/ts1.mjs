// What does a client of the TypeScript SDK, generation 1, see of a server? One line of JSON for each thing done.
//   ts1.mjs stdio|http|sse CONTROL TARGET...     (TARGET: a command, or a URL; CONTROL: see `reference --control`)
import { appendFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

const LIMIT = 10_000; // milliseconds until a notification is overdue
const GREETING = 'litmus://text/greeting';
const ADDED = 'litmus://text/added';
const [kind, control, ...target] = process.argv.slice(2);

const say = (did, facts) => console.log(JSON.stringify({ did, ...facts }));
const change = line => appendFileSync(control, `${line}\n`);

// Which HTTP requests got which status.
const exchanges = new Set();
const http = {
  fetch: async (url, init) => {
    const response = await fetch(url, init);
    exchanges.add(`${init?.method ?? 'GET'} ${response.status}`);
    return response;
  },
};
const transports = {
  stdio: () => new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'inherit' }),
  http: () => new StreamableHTTPClientTransport(new URL(target[0]), http),
  sse: () => new SSEClientTransport(new URL(target[0]), http),
};

// Notifications since the last look, and whoever waits for one of them.
let told = [];
let wake = () => {};
const note = what => { told.push(what); wake(); };

// All that was told until `what` came, or until the limit.
async function tidings(what) {
  const overdue = Date.now() + LIMIT;
  while (!told.includes(what) && Date.now() < overdue) {
    await new Promise(resolve => {
      const timer = setTimeout(resolve, overdue - Date.now());
      wake = () => { clearTimeout(timer); resolve(); };
    });
  }
  const all = told;
  told = [];
  return all;
}

// All pages, and how many there were.
async function collect(ask, key) {
  const items = [];
  let cursor;
  for (let pages = 1; ; pages += 1) {
    const page = await ask(cursor === undefined ? {} : { cursor });
    items.push(...page[key]);
    cursor = page.nextCursor;
    if (cursor === undefined) return { pages, items };
  }
}

const client = new Client({ name: 'litmus-ts1', version: '1' });
// A line that nobody expects.
client.onerror = error => say('complain', { error: String(error) });
client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => note(`updated ${params.uri}`));
client.setNotificationHandler(ResourceListChangedNotificationSchema, () => note('list changed'));

const list = () => collect(params => client.listResources(params), 'resources');
const isListed = async uri => (await list()).items.some(resource => resource.uri === uri);
const read = async uri => say('read', { uri, contents: (await client.readResource({ uri })).contents });

const transport = transports[kind]();
// The client tells its transport alone which revision it opened with.
let revision;
const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = version => { revision = version; setProtocolVersion?.(version); };
await client.connect(transport);
say('open', { revision, server: client.getServerVersion().name, resources: client.getServerCapabilities().resources });

const resources = await list();
say('list', { pages: resources.pages, uris: resources.items.map(item => item.uri), first: resources.items[0] });
const templates = await collect(params => client.listResourceTemplates(params), 'resourceTemplates');
say('list templates', { pages: templates.pages, templates: templates.items.map(item => item.uriTemplate) });
for (const uri of [GREETING, 'litmus://data/all-bytes', 'file:///litmus/docs/', 'litmus://notes/7']) await read(uri);
try {
  await read('litmus://nowhere');
} catch (error) {
  say('fail to read', { raised: error.constructor.name, code: error.code, data: error.data });
}

await client.subscribeResource({ uri: GREETING });
change(`touch ${GREETING}`);
say('touch', { told: await tidings(`updated ${GREETING}`) });
await read(GREETING);
change(`add ${ADDED}`);
say('add', { told: await tidings('list changed') });
say('list anew', { added: await isListed(ADDED) });

// Were the touch still told, then before the removal.
await client.unsubscribeResource({ uri: GREETING });
change(`touch ${GREETING}`);
change(`remove ${ADDED}`);
say('touch and remove', { told: await tidings('list changed') });
say('list anew', { added: await isListed(ADDED) });

if (kind === 'http') await transport.terminateSession();
// That closing breaks off its own streams is an error to it.
client.onerror = undefined;
await client.close();
say('close', { exchanges: [...exchanges].sort() });
