import { relative } from 'node:path'
import type { Machine } from './boot.ts'
import { writeSecretly, type DataDir, type KnownProject } from './data-dir.ts'
import { say } from './terminal.ts'

export type Description = ReturnType<typeof describe>

// The content of DATA_DIR/local.json: everything that scripts need to use this installation.
export function describe(
	machine: Machine,
	project: KnownProject | undefined,
	loginToken: string | undefined,
) {
	const { settings, databaseUrl, temporal } = machine
	const apiUrl = `http://${settings.reachableHost === '127.0.0.1' ? 'localhost' : settings.reachableHost}:${settings.port}`
	// The link works only on this machine.
	const mayLogIn = loginToken !== undefined && isLoopback(settings.reachableHost)
	return {
		consoleUrl: mayLogIn ? `${apiUrl}/auth/local?token=${loginToken}` : `${apiUrl}/`,
		apiUrl,
		publicKey: project?.publicKey ?? null,
		secretKey: project?.secretKey ?? null,
		projectId: project?.projectId ?? null,
		email: project?.email ?? null,
		password: project?.password ?? null,
		temporalAddress: temporal.address,
		temporalUi: temporal.uiUrl,
		mailboxUrl: settings.isMailLocal ? `${apiUrl}/mailbox` : null,
		docsUrl: `${apiUrl}/docs`,
		databaseUrl,
	}
}

const isLoopback = (host: string) => /^(localhost|127\.[\d.]+|::1)$/.test(host)

export const writeDescription = (dataDir: DataDir, description: Description) =>
	writeSecretly(dataDir.file('local.json'), description)

interface Outcome {
	dataDir: DataDir
	isHealthy: boolean
	seconds: number
}

export function printSummary(description: Description, { dataDir, isHealthy, seconds }: Outcome) {
	const file = dataDir.file('local.json')
	const place = (path: string) => relative(process.cwd(), path) || path
	say(
		isHealthy
			? `\nTempost is ready (${seconds.toFixed(1)} s)\n`
			: `\nTempost runs, but /health is not ok yet: see the logs in ${place(dataDir.file('logs'))}\n`,
	)
	for (const line of addresses(description)) say(line)
	if (description.consoleUrl.includes('token='))
		say('\n  The link to the console logs you in once; every start makes a new one')
	say(`\n  All of it is in ${place(file)}, logs are in ${place(dataDir.file('logs'))}`)
	if (description.secretKey) say(`\nA first mail:\n\n${firstMail(description)}\n`)
	else say(`\n${keysToUse(description)}\n`)
	if (description.mailboxUrl && description.secretKey) say(`It lands in ${description.mailboxUrl}`)
	say('Ctrl-C stops everything; the next start finds all data again')
}

// One line for each, the most useful first.
export function addresses(description: Description) {
	const rows = {
		Console: description.consoleUrl,
		API: description.apiUrl,
		'API docs': description.docsUrl,
		Mailbox: description.mailboxUrl,
		Temporal: description.temporalUi ?? description.temporalAddress,
		Postgres: description.databaseUrl,
		'Secret key': description.secretKey,
		'Public key': description.publicKey,
		Account: description.email && account(description),
	}
	return Object.entries(rows).flatMap(([name, value]) =>
		value ? [`  ${name.padEnd(12)}${value}`] : [],
	)
}

const account = ({ email, password }: Description) =>
	password ? `${email} with password ${password}` : `${email}, whose password was changed`

export const keysToUse = ({ projectId }: Description) =>
	projectId
		? 'The keys of the first project were replaced, and secret keys are not stored: use the new one.'
		: 'This database already has projects: use their keys.'

function firstMail({ apiUrl, secretKey }: Description) {
	const body = {
		to: 'you@example.com',
		from: 'hello@example.com',
		subject: 'Hello',
		body: '<p>It works.</p>',
	}
	return [
		`curl ${apiUrl}/v1/send \\`,
		`  -H 'Authorization: Bearer ${secretKey}' \\`,
		"  -H 'Content-Type: application/json' \\",
		`  -d '${JSON.stringify(body)}'`,
	].join('\n')
}
