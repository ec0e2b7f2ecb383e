// The session of the tests, by the client of the TypeScript SDK: what it was told, as JSON.
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { ElicitRequestSchema, ResourceUpdatedNotificationSchema } = require('@modelcontextprotocol/sdk/types.js');

const way = JSON.parse(process.argv[2]);

function transport() {
  if (way.url) return new StreamableHTTPClientTransport(new URL(way.url), { requestInit: { headers: way.headers } });
  const [command, ...args] = way.command;
  return new StdioClientTransport({ command, args });
}

async function session(client) {
  const progress = [];
  const asked = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message);
    return { action: 'decline' };
  });
  const { tools } = await client.listTools();
  const listed = await client.callTool({ name: 'abi_list', arguments: { library: 'libgeo' } });
  const compared = await client.callTool({ name: 'abi_compare', arguments: way.compared }, undefined, {
    onprogress: (told) => progress.push(told.message),
  });
  const resource = (await client.readResource({ uri: 'abistore://libraries' })).contents[0];
  const prompt = await client.getPrompt({ name: 'review_release', arguments: { library: 'libgeo', version: '2.0' } });
  const words = await client.complete({
    ref: { type: 'ref/prompt', name: 'review_release' },
    argument: { name: 'library', value: 'lib' },
  });
  const refused = await client.callTool({ name: 'abi_list', arguments: { library: 'libgoe' } });
  const declined = await client.callTool({ name: 'abi_delete', arguments: way.deleted });
  const unknown = await client.callTool({ name: 'abi_lst', arguments: {} }).then(
    () => 0,
    (error) => error.code,
  );
  return {
    server: [client.getServerVersion().name, client.getServerVersion().version],
    tools: tools.map((tool) => tool.name),
    listed: listed.structuredContent,
    compared: compared.structuredContent,
    progress,
    resource: [resource.mimeType, resource.text],
    prompt: prompt.messages[0].content.text,
    completed: words.completion.values,
    refused: [refused.isError, refused.content[0].text],
    asked,
    declined: [declined.isError, declined.content[0].text],
    unknown,
  };
}

// A release is deleted, to which the person says yes, and whoever subscribed to the library is told.
async function deletion(client) {
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { agree: true } }));
  const updated = new Promise((resolve) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri));
  });
  await client.subscribeResource({ uri: 'abistore://libraries/libgeo' });
  const answered = await client.callTool({ name: 'abi_delete', arguments: way.deleted });
  return { answered: answered.structuredContent, updated: await updated };
}

async function talk() {
  const client = new Client({ name: 'tests', version: '1' }, { capabilities: { elicitation: {} } });
  const connection = transport();
  let era = null;
  const agree = connection.setProtocolVersion?.bind(connection);
  connection.setProtocolVersion = (version) => {
    era = version;
    agree?.(version);
  };
  await client.connect(connection);
  const told = way.compared ? await session(client) : await deletion(client);
  await client.close();
  return { era, ...told };
}

talk().then((told) => console.log(JSON.stringify(told)));
