// Sends valid and invalid requests to a real API, generated from its OpenAPI document: npm run fuzz
// [seconds] [seed] [options of schemathesis…]
import { spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareStack, type Stack } from '../../bench/stack.ts'
import { withServers } from '../../local/servers.ts'

const version = '4.32.5'
const [seconds = '240', seed = String(randomInt(2 ** 31)), ...options] = process.argv.slice(2)
// Routes that would destroy what the run needs: its account, its session, its keys, its project…
const excluded = [
	'/auth/logout',
	'/auth/reset-password',
	'/users/@me/projects/{id}',
	'/users/@me/projects/{id}/regenerate-keys',
	'/users/@me/projects/{id}/reset',
	'/projects/{id}/members/{userId}',
	// It can't generate mails.
	'/webhooks/bounce',
]

process.exitCode = await withServers(async (servers, signal) => {
	const program = install()
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local' })
	const folder = mkdtempSync(join(tmpdir(), 'tempost-fuzz-'))
	try {
		await Promise.all([stack.api.start(), stack.worker.start()])
		const configuration = join(folder, 'schemathesis.toml')
		writeFileSync(configuration, await configure(stack))
		console.log(`${seconds} seconds with the seed ${seed}`)
		const words = ['--config-file', configuration, ...argumentsFor(stack)]
		const code = await run(program, words, { cwd: folder, signal })
		for (const { name, process } of [
			{ name: 'API', process: stack.api },
			{ name: 'worker', process: stack.worker },
		])
			if (code !== 0)
				console.log(`The last words of the ${name}:\n${process.output().slice(-4000)}`)
		return code
	} finally {
		await stack.stop()
		rmSync(folder, { recursive: true, force: true })
	}
})

/** The program in a Python environment of its own, kept for the next run. */
function install() {
	const home = join(import.meta.dirname, '../../.cache', `schemathesis-${version}`)
	const program = join(home, 'bin', 'schemathesis')
	if (existsSync(program)) return program
	for (const [command, ...words] of [
		['python3', '-m', 'venv', home],
		[join(home, 'bin', 'pip'), 'install', '--quiet', `schemathesis==${version}`],
	]) {
		const { status, error } = spawnSync(command!, words, { stdio: 'inherit' })
		if (status === 0) continue
		rmSync(home, { recursive: true, force: true })
		throw new Error(`${command} ${words.join(' ')} failed`, { cause: error })
	}
	return program
}

/** All kinds of credentials, each for the routes that require it. */
async function configure({ apiUrl, orm, projectId, publicKey, secretKey }: Stack) {
	const signup = await fetch(`${apiUrl}/auth/signup`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ email: 'owner@example.org', password: 'correct horse battery' }),
	})
	const { id } = (await signup.json()) as { id: string }
	const session = /session=([^;]+)/.exec(signup.headers.get('set-cookie') ?? '')![1]!
	await orm.em
		.fork()
		.execute('insert into memberships (project_id, user_id, role) values (?, ?, ?)', [
			projectId,
			id,
			'OWNER',
		])
	return `
headers = { Origin = "http://localhost:${new URL(apiUrl).port}", X-Project-Id = "${projectId}" }
[auth.openapi]
publicKey = { bearer = "${publicKey}" }
secretKey = { bearer = "${secretKey}" }
session = { api_key = "${session}" }
`
}

function argumentsFor({ apiUrl }: Stack) {
	return [
		'run',
		`${apiUrl}/openapi.json`,
		'--url',
		apiUrl,
		'--seed',
		seed,
		'--workers',
		'1',
		'--max-time',
		seconds,
		// Here an unknown method on a path is a 404, and bodies may have unknown members.
		'--exclude-checks',
		'unsupported_method,positive_data_acceptance,negative_data_rejection',
		...excluded.flatMap((path) => ['--exclude-path', path]),
		// These routes don't exist without a payment provider.
		'--exclude-path-regex',
		'/(checkout|billing-[a-z]+)$',
		...options,
	]
}

function run(
	program: string,
	words: string[],
	{ cwd, signal }: { cwd: string; signal: AbortSignal },
) {
	// It writes files into its working folder.
	const child = spawn(program, words, { cwd, stdio: 'inherit' })
	signal.addEventListener('abort', () => child.kill('SIGTERM'))
	return new Promise<number>((done, fail) => {
		child.once('error', fail)
		child.once('exit', (code) => done(code ?? 1))
	})
}
