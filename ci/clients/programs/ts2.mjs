// What does a client of the TypeScript SDK, generation 2, see of a server? One line of JSON for each thing done.
//   ts2.mjs stdio|http|sse CONTROL TARGET...     (TARGET: a command, or a URL; CONTROL: see `reference --control`)
import { appendFileSync } from 'node:fs';
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

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

const client = new Client({ name: 'litmus-ts2', version: '1' }, { versionNegotiation: { mode: 'auto' } });
// A line that nobody expects.
client.onerror = error => say('complain', { error: String(error) });
client.setNotificationHandler('notifications/resources/updated', ({ params }) => note(`updated ${params.uri}`));
client.setNotificationHandler('notifications/resources/list_changed', () => note('list changed'));

const isListed = async uri => (await client.listResources()).resources.some(resource => resource.uri === uri);
const read = async uri => say('read', { uri, contents: (await client.readResource({ uri })).contents });

const transport = transports[kind]();
// The client gathers all pages itself; how many there were shows in what it sends.
const sent = {};
const send = transport.send.bind(transport);
transport.send = (message, options) => {
  sent[message.method] = (sent[message.method] ?? 0) + 1;
  return send(message, options);
};
await client.connect(transport);
const revision = client.getNegotiatedProtocolVersion();
say('open', { revision, server: client.getServerVersion().name, resources: client.getServerCapabilities().resources });

const { resources } = await client.listResources();
say('list', { pages: sent['resources/list'], uris: resources.map(item => item.uri), first: resources[0] });
const { resourceTemplates } = await client.listResourceTemplates();
const templates = resourceTemplates.map(item => item.uriTemplate);
say('list templates', { pages: sent['resources/templates/list'], templates });
for (const uri of [GREETING, 'litmus://data/all-bytes', 'file:///litmus/docs/', 'litmus://notes/7']) await read(uri);
try {
  await read('litmus://nowhere');
} catch (error) {
  say('fail to read', { raised: error.constructor.name, code: error.code, data: error.data });
}

const stateless = revision >= '2026-07-28';
const listen = async filter => {
  const stream = await client.listen(filter);
  say('listen', { honored: stream.honoredFilter });
  return stream;
};
let stream;
if (stateless) stream = await listen({ resourcesListChanged: true, resourceSubscriptions: [GREETING] });
else await client.subscribeResource({ uri: GREETING });
change(`touch ${GREETING}`);
say('touch', { told: await tidings(`updated ${GREETING}`) });
await read(GREETING);
change(`add ${ADDED}`);
say('add', { told: await tidings('list changed') });
say('list anew', { added: await isListed(ADDED) });

// Were the touch still told, then before the removal.
if (stateless) {
  await stream.close();
  stream = await listen({ resourcesListChanged: true });
} else {
  await client.unsubscribeResource({ uri: GREETING });
}
change(`touch ${GREETING}`);
change(`remove ${ADDED}`);
say('touch and remove', { told: await tidings('list changed') });
say('list anew', { added: await isListed(ADDED) });

await stream?.close();
if (kind === 'http' && !stateless) await transport.terminateSession();
// That closing breaks off its own streams is an error to it.
client.onerror = undefined;
await client.close();
say('close', { exchanges: [...exchanges].sort() });
