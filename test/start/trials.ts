import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runPage } from '../helpers/doc-examples.ts'
import {
	closedFolder,
	furnish,
	isRoot,
	makeClone,
	makeUser,
	openFolder,
	ourselves,
} from './clone.ts'
import {
	addWebhookEndpoint,
	commandOf,
	followConsoleLink,
	left,
	npmStart,
	pressCtrlC,
	processNamed,
	processesOf,
	sendMail,
	stop,
	until,
	untilInMailbox,
	untilReady,
} from './instance.ts'

export const folders: string[] = []
const home = (make: () => string) => {
	const folder = make()
	folders.push(folder)
	return folder
}
// Below the ports that the system gives to connections, because one of those may be in use.
const ports = (number: number) => ({
	PORT: String(23_000 + number),
	TEMPORAL_PORT: String(24_000 + number * 10),
	TEMPORAL_UI_PORT: String(25_000 + number * 10),
})

// If we are root, Postgres' own user can't enter this folder.
const first = join(home(closedFolder), 'a path with spaces', 'clone')
const env = ports(1)

export const trials: Record<string, () => Promise<void>> = {
	async 'a bare clone in a closed folder with spaces in its path delivers a mail'() {
		const began = Date.now()
		makeClone(first)
		const instance = npmStart(first, env)
		await sendMail(await untilReady(instance, 175), 'first@example.com')
		const seconds = (Date.now() - began) / 1000
		if (seconds > 180) throw new Error(`it took ${seconds} s`)
		if (isRoot && !instance.output().includes('/var/lib/tempost'))
			throw new Error('it was not said where the data is')
		await stop(instance)
	},

	async 'the next start is quick, finds keys and mails, logs in, and posts webhooks to this machine'() {
		const instance = npmStart(first, env)
		const began = Date.now()
		const local = await untilReady(instance, 12)
		console.log(`  ready after ${(Date.now() - began) / 1000} s`)
		await untilInMailbox(local.mailboxUrl, 'first@example.com')
		await sendMail(local, 'second@example.com')
		await addWebhookEndpoint(local)
		await followConsoleLink(local)
		const [firstAddress] = /^ {2}\w+ +http.*$/m.exec(instance.output()) ?? []
		if (!firstAddress?.endsWith(local.consoleUrl)) throw new Error(`first: ${firstAddress}`)
		await stop(instance)
	},

	async 'the commands of the README do what they say'() {
		const instance = npmStart(first, env)
		const { apiUrl, mailboxUrl } = await untilReady(instance)
		const problems = await runPage('README.md', { folder: first, apiUrl, env: ourselves.env })
		if (problems.length > 0) throw new Error(problems.join('\n'))
		for (const to of ['ann@example.org', 'bob@example.org', 'dora@example.org'])
			await untilInMailbox(mailboxUrl, to)
		await stop(instance)
	},

	async 'kill -9 of the start script is recovered from'() {
		const killed = npmStart(first, env)
		const { secretKey } = await untilReady(killed)
		process.kill(processNamed(killed, 'local/start.js'), 'SIGKILL')
		await killed.exit
		const again = npmStart(first, env)
		const local = await untilReady(again)
		if (local.secretKey !== secretKey) throw new Error('the keys have changed')
		await untilInMailbox(local.mailboxUrl, 'second@example.com')
		await sendMail(local, 'third@example.com')
		for (const mark of ['api/main.js', 'activities/worker.js', 'start-dev'])
			if (processesOf(again).filter((pid) => commandOf(pid).includes(mark)).length !== 1)
				throw new Error(`not exactly one ${mark}`)
		await stop(again)
	},

	async 'kill -9 of everything but the servers is recovered from'() {
		const killed = npmStart(first, env)
		await untilReady(killed)
		const marks = ['local/start.js', 'api/main.js', 'activities/worker.js']
		const pids = marks.map((mark) => processNamed(killed, mark))
		for (const pid of pids) process.kill(pid, 'SIGKILL')
		await killed.exit
		const again = npmStart(first, env)
		await untilInMailbox((await untilReady(again)).mailboxUrl, 'first@example.com')
		await stop(again)
	},

	async 'kill -9 of npm stops everything'() {
		const instance = npmStart(first, env)
		await untilReady(instance)
		process.kill(instance.pid, 'SIGKILL')
		await until(
			() => processesOf(instance).length === 0,
			40,
			() => left(instance),
		)
	},

	async 'a crashed API and a crashed worker come back'() {
		const instance = npmStart(first, env)
		const local = await untilReady(instance)
		for (const mark of ['api/main.js', 'activities/worker.js'])
			process.kill(processNamed(instance, mark), 'SIGKILL')
		await until(() => instance.output().split('is started again').length === 3, 10, instance.output)
		await until(
			() => isOk(local.apiUrl),
			30,
			() => 'no health',
		)
		await sendMail(local, 'fourth@example.com')
		await stop(instance)
	},

	async 'Ctrl-C stops everything in its order'() {
		const instance = npmStart(first, env)
		await untilReady(instance)
		pressCtrlC(instance)
		await until(
			() => processesOf(instance).length === 0,
			40,
			() => left(instance),
		)
		if ((await instance.exit) !== 0 || !instance.output().includes('\nStopped'))
			throw new Error(instance.output())
	},

	async 'Ctrl-C twice leaves no orphans, at any moment of the start'() {
		for (const delay of [600, 1200, 2000, 3000, 5000]) {
			const instance = npmStart(first, env)
			await sleep(delay)
			pressCtrlC(instance)
			await sleep(800)
			if (processesOf(instance).length > 0) pressCtrlC(instance)
			await until(
				() => processesOf(instance).length === 0,
				15,
				() => left(instance),
			)
		}
	},

	async 'two run side by side, a third on the same data is told so'() {
		const other = { ...ports(1), PORT: '23002', DATA_DIR: 'other data' }
		const [one, two] = [npmStart(first, env), npmStart(first, other)]
		const [local1, local2] = await Promise.all([untilReady(one), untilReady(two)])
		if (local1.projectId === local2.projectId) throw new Error('they share a database')
		await Promise.all([sendMail(local1, 'one@example.com'), sendMail(local2, 'two@example.com')])
		const third = npmStart(first, { ...env, PORT: '23003' })
		if ((await third.exit) === 0 || !third.output().includes('already runs with DATA_DIR'))
			throw new Error(third.output())
		await Promise.all([stop(one), stop(two)])
	},

	async 'a port that is taken is named with its variable'() {
		const server = createServer().listen(23_004, '127.0.0.1')
		const instance = npmStart(first, { ...env, PORT: '23004' })
		const code = await instance.exit
		server.close()
		if (code === 0 || !/Port 23004 .* is taken\. Set PORT/.test(instance.output()))
			throw new Error(instance.output())
		await until(
			() => processesOf(instance).length === 0,
			10,
			() => left(instance),
		)
	},

	async 'a DATA_DIR that was thrown away makes a fresh start'() {
		rmSync(join(first, '.data'), { recursive: true })
		const instance = npmStart(first, env)
		await sendMail(await untilReady(instance), 'fresh@example.com')
		await stop(instance)
	},

	async 'an ordinary user starts a clone of theirs'() {
		const user = makeUser()
		if (!user) return console.log('  skipped: only root can make a user')
		try {
			const folder = makeClone(join(user.env['HOME']!, 'clone'), user)
			folders.push(join(user.env['HOME']!, '..'))
			const instance = npmStart(folder, ports(5), user)
			await sendMail(await untilReady(instance, 175), 'user@example.com')
			await stop(instance)
		} finally {
			user.remove()
		}
	},

	async 'root starts a clone that everyone may enter'() {
		const folder = furnish(makeClone(join(home(openFolder), 'clone')), first)
		const instance = npmStart(folder, ports(6))
		await sendMail(await untilReady(instance), 'open@example.com')
		if (instance.output().includes('/var/lib/tempost')) throw new Error('moved without need')
		await stop(instance)
	},
}

async function isOk(apiUrl: string) {
	const response = await fetch(`${apiUrl}/health`).catch(() => undefined)
	return ((await response?.json()) as { status?: string } | undefined)?.status === 'ok'
}
