// The session of the tests, by the client of the TypeScript SDK: what it was told, as JSON.
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');

const way = JSON.parse(process.argv[2]);

function transport() {
  if (way.url) return new StreamableHTTPClientTransport(new URL(way.url), { requestInit: { headers: way.headers } });
  const [command, ...args] = way.command;
  return new StdioClientTransport({ command, args, env: way.env });
}

async function talk() {
  const progress = [];
  const client = new Client({ name: 'tests', version: '1' }, { capabilities: {} });
  const connection = transport();
  let era = null;
  const agree = connection.setProtocolVersion?.bind(connection);
  connection.setProtocolVersion = (version) => {
    era = version;
    agree?.(version);
  };
  await client.connect(connection);
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
  const unknown = await client.callTool({ name: 'abi_lst', arguments: {} }).then(
    () => 0,
    (error) => error.code,
  );
  const told = {
    server: [client.getServerVersion().name, client.getServerVersion().version],
    era,
    tools: tools.map((tool) => tool.name),
    listed: listed.structuredContent,
    compared: compared.structuredContent,
    progress,
    resource: [resource.mimeType, resource.text],
    prompt: prompt.messages[0].content.text,
    completed: words.completion.values,
    refused: [refused.isError, refused.content[0].text],
    unknown,
  };
  await client.close();
  return told;
}

talk().then((told) => console.log(JSON.stringify(told)));
