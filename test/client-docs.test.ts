import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { runCommands, runSnippets } from './helpers/doc-snippets.ts'
import { install } from './helpers/installation.ts'
import { installClient } from './helpers/packed-client.ts'

const page = 'docs/client.md'

test('the snippets of the page about the client do what the page says', async (t) => {
	t.timeout(300_000)
	const [{ folder: home, apiUrl }, installed] = await Promise.all([install(t), installClient(t)])
	const keys = JSON.parse(await readFile(join(home, '.data/local.json'), 'utf8')) as Record<
		string,
		string
	>
	const env = {
		TEMPOST_URL: apiUrl,
		TEMPOST_SECRET_KEY: keys['secretKey']!,
		TEMPOST_PUBLIC_KEY: keys['publicKey']!,
		TEMPOST_PROJECT_ID: keys['projectId']!,
	}
	const printed = await runSnippets(page, { ...installed, env })
	t.regex(printed, /VALIDATION_ERROR 422/)
	t.regex(printed, /^to must be an email address$|^to /m)
	t.regex(printed, /^true$/m)
	t.regex(printed, /completed 100/)
	const outputs = await runCommands(page, { ...installed, env })
	t.is(outputs.size, 5)
	for (const [line, output] of outputs)
		for (const one of output.trim().split('\n')) t.notThrows(() => JSON.parse(one) as unknown, line)
})
