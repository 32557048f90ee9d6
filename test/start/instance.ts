import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
	existsSync,
	lstatSync,
	readFileSync,
	readdirSync,
	readlinkSync,
	realpathSync,
	rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ourselves, type User } from './clone.ts'

interface Local {
	consoleUrl: string
	apiUrl: string
	publicKey: string
	secretKey: string
	projectId: string
	mailboxUrl: string
	databaseUrl: string
}

const started: Instance[] = []

export interface Instance {
	pid: number
	folder: string
	dataDir: string
	output: () => string
	exit: Promise<number | null>
}

// `npm start` in the clone, in a process group of its own as in a shell.
export function npmStart(folder: string, env: NodeJS.ProcessEnv, user: User = ourselves): Instance {
	const child = spawn('npm', ['start'], {
		...user,
		cwd: folder,
		env: { ...user.env, PWD: folder, ...env },
		detached: true,
		stdio: ['ignore', 'pipe', 'pipe'],
	})
	let output = ''
	for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
	const instance = {
		pid: child.pid!,
		folder,
		dataDir: join(folder, env['DATA_DIR'] ?? '.data'),
		output: () => output,
		exit: once(child, 'close').then(([code]) => code as number | null),
	}
	started.push(instance)
	return instance
}

export async function untilReady(instance: Instance, seconds = 60) {
	await until(
		() => /Tempost is ready|does not start|is taken/.test(instance.output()),
		seconds,
		() => {
			return `npm start is not ready after ${seconds} s:\n${instance.output()}`
		},
	)
	if (!instance.output().includes('Tempost is ready')) throw new Error(instance.output())
	return JSON.parse(readFileSync(join(instance.dataDir, 'local.json'), 'utf8')) as Local
}

export async function until(
	isTrue: () => boolean | Promise<boolean>,
	seconds: number,
	message: () => string,
) {
	for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await sleep(50))
		if (await isTrue()) return
	throw new Error(message())
}

// Like Ctrl-C: every process of the terminal's foreground group gets the signal.
export const pressCtrlC = ({ pid }: Instance) => process.kill(-pid, 'SIGINT')

export async function stop(instance: Instance) {
	process.kill(instance.pid, 'SIGTERM') // to npm alone, as a process manager would
	await until(
		() => processesOf(instance).length === 0,
		40,
		() => left(instance),
	)
}

export const left = (instance: Instance) =>
	`still running: ${processesOf(instance).map(commandOf).join('\n')}\n${instance.output()}`

// All processes of this instance, wherever they are in the process tree.
export function processesOf({ folder, dataDir }: Instance) {
	const data = join(dataDir, 'postgres')
	const marks = [dataDir, ...(existsSync(data) ? [realpathSync(data)] : [])]
	return allProcesses().filter((pid) => {
		const command = commandOf(pid)
		if (marks.some((mark) => command.includes(mark))) return true
		return environmentOf(pid).includes(`PWD=${folder}\0`) && hasDataDir(pid, dataDir, folder)
	})
}

function hasDataDir(pid: number, dataDir: string, folder: string) {
	const given = /(?:^|\0)DATA_DIR=([^\0]*)/.exec(environmentOf(pid))?.[1] ?? '.data'
	return given === dataDir || join(folder, given) === dataDir
}

const allProcesses = () =>
	readdirSync('/proc')
		.map(Number)
		.filter((pid) => pid > 1 && pid !== process.pid && !isZombie(pid))

const isZombie = (pid: number) => /\) [ZX] /.test(read(pid, 'stat'))

export const commandOf = (pid: number) => read(pid, 'cmdline').replaceAll('\0', ' ')

const environmentOf = (pid: number) => `\0${read(pid, 'environ')}`

function read(pid: number, name: string) {
	try {
		return readFileSync(`/proc/${pid}/${name}`, 'utf8')
	} catch {
		return '' // it has just ended
	}
}

export function processNamed(instance: Instance, part: string) {
	const found = processesOf(instance).find((pid) => commandOf(pid).includes(part))
	if (!found) throw new Error(`no ${part} runs\n${instance.output()}`)
	return found
}

export function endAll() {
	for (const instance of started)
		for (const pid of processesOf(instance)) process.kill(pid, 'SIGKILL')
}

// The very first promise: after a request, the mail is in the mailbox.
export async function sendMail({ apiUrl, secretKey, mailboxUrl }: Local, to: string) {
	const response = await fetch(`${apiUrl}/v1/send`, {
		method: 'POST',
		headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
		body: JSON.stringify({ to, from: 'hello@example.com', subject: 'Hello', body: '<p>Hi</p>' }),
	})
	if (response.status !== 200) throw new Error(`send: ${response.status} ${await response.text()}`)
	await untilInMailbox(mailboxUrl, to)
}

// The link that is printed logs the owner in.
export async function followConsoleLink({ consoleUrl }: Local) {
	const answer = await fetch(consoleUrl, { redirect: 'manual' })
	const session = answer.headers.getSetCookie().find((cookie) => cookie.startsWith('session='))
	if (answer.status !== 303 || !session) throw new Error(`console: ${answer.status}`)
	const me = await fetch(new URL('/users/@me', consoleUrl), {
		headers: { cookie: session.split(';', 1)[0]! },
	})
	if (me.status !== 200) throw new Error(`console: the session is refused with ${me.status}`)
}

/** An endpoint for webhooks on this machine, where the program that is being developed runs. */
export async function addWebhookEndpoint({ apiUrl, secretKey }: Local) {
	const response = await fetch(`${apiUrl}/webhook-endpoints`, {
		method: 'POST',
		headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
		body: JSON.stringify({ url: 'http://localhost:4000/hook', events: ['email.failed'] }),
	})
	if (response.status !== 201)
		throw new Error(`webhook: ${response.status} ${await response.text()}`)
}

export async function untilInMailbox(mailboxUrl: string, to: string) {
	const arrived = async () => {
		const response = await fetch(`${mailboxUrl}/messages?to=${encodeURIComponent(to)}`)
		return ((await response.json()) as { messages: unknown[] }).messages.length === 1
	}
	await until(arrived, 30, () => `no mail to ${to} in the mailbox`)
}

// The place of root's moved data, including data that was moved aside there.
export function removeMovedData() {
	for (const { dataDir } of started) {
		const link = join(dataDir, 'postgres')
		if (!lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) continue
		for (const suffix of ['', '.old-1'])
			rmSync(`${readlinkSync(link)}${suffix}`, { recursive: true, force: true })
	}
}
