#!/usr/bin/env node
import { addAbortSignal } from 'node:stream'
import { parseArgs } from 'node:util'
import { Tempost, TempostError } from '../index.ts'
import { campaignsWatch } from './campaigns.ts'
import { type Command, exitCodes, isAway, tooMany, UsageError, type Values } from './command.ts'
import { contactsImport } from './contacts.ts'
import { doctor } from './doctor.ts'
import { emailsGet } from './emails.ts'
import { listen } from './listen.ts'
import { logs } from './logs.ts'
import { createOutput, printable } from './output.ts'
import { send } from './send.ts'
import { readSettings } from './settings.ts'

const commands: Record<string, Command> = {
	send,
	logs,
	'emails get': emailsGet,
	'contacts import': contactsImport,
	'campaigns watch': campaignsWatch,
	listen,
	doctor,
}

const common = {
	options: {
		url: { type: 'string' },
		key: { type: 'string' },
		'public-key': { type: 'string' },
		json: { type: 'boolean' },
		help: { type: 'boolean', short: 'h' },
	},
	help: {
		url: 'the address of the service (TEMPOST_URL)',
		key: 'the secret key (TEMPOST_SECRET_KEY)',
		'public-key': 'the public key (TEMPOST_PUBLIC_KEY)',
		json: 'JSON, as it is by itself when the output is no terminal',
		help: 'this text',
	},
} as const

async function main(args: string[]): Promise<number> {
	const found = Object.entries(commands).find(
		([name]) => args.slice(0, name.split(' ').length).join(' ') === name,
	)
	if (!found) {
		const wantsHelp = args.length === 0 || ['help', '--help', '-h'].includes(args[0]!)
		const write = wantsHelp ? process.stdout : process.stderr
		write.write(wantsHelp ? overview() : `There is no command ${args[0]}\n\n${overview()}`)
		return wantsHelp && args.length > 0 ? exitCodes.done : exitCodes.usage
	}
	const [name, command] = found
	try {
		return await run(name, command, args.slice(name.split(' ').length))
	} catch (error) {
		return report(error, name)
	}
}

async function run(name: string, command: Command, args: string[]) {
	const { values, positionals: words } = parsed(command, args)
	if (values['help']) {
		process.stdout.write(helpOf(name, command))
		return exitCodes.done
	}
	const surplus = words[command.mostWords]
	if (surplus !== undefined) throw tooMany(surplus)
	const settings = readSettings(values)
	const stop = new AbortController()
	const interrupt = () => stop.abort(new Interrupted())
	for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupt)
	for (const output of [process.stdout, process.stderr])
		output.on('error', (error: NodeJS.ErrnoException) => {
			if (!isUnread(error)) throw error
			interrupt()
		})
	const code = await command.run({
		settings,
		values,
		words,
		tempost: new Tempost(settings),
		out: createOutput(values['json'] === true),
		signal: stop.signal,
		input: () => addAbortSignal(stop.signal, process.stdin),
	})
	return code ?? exitCodes.done
}

/** Its reader has ended, as `head` does after some lines. */
const isUnread = ({ code }: NodeJS.ErrnoException) => code === 'EPIPE'

class Interrupted extends Error {}
const interruptedCode = 130

function parsed(command: Command, args: string[]): { values: Values; positionals: string[] } {
	try {
		const options = { ...common.options, ...command.options }
		return parseArgs({ args, options, allowPositionals: true }) as ReturnType<typeof parsed>
	} catch (error) {
		throw new UsageError((error as Error).message)
	}
}

function report(error: unknown, name: string) {
	const say = (line: string) => process.stderr.write(`${printable(line)}\n`)
	if (error instanceof Interrupted || (error as Error).cause instanceof Interrupted)
		return interruptedCode
	if (error instanceof UsageError) {
		say(error.message)
		say(`See: tempost ${name} --help`)
		return exitCodes.usage
	}
	if (!(error instanceof TempostError)) throw error
	const { code, message, fields, suggestion, requestId } = error
	say(`${message} (${code})`)
	for (const field of fields.slice(1)) say(`  ${field.field} ${field.message}`)
	const isKeyMissing = code === 'MISSING_CREDENTIAL'
	const advice = isKeyMissing ? 'Give it with --key, or set TEMPOST_SECRET_KEY.' : suggestion
	if (advice) say(`→ ${advice}`)
	if (requestId) say(`  Request ${requestId}`)
	if (isKeyMissing) return exitCodes.usage
	return isAway(error) ? exitCodes.unreachable : exitCodes.failed
}

const overview = () =>
	[
		'tempost COMMAND [options]\n',
		...Object.entries(commands).map(
			([name, { usage, summary }]) => `  ${`${name} ${usage}`.trim().padEnd(28)} ${summary}`,
		),
		'\nEvery command has --help. Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no answer.\n',
	].join('\n')

const helpOf = (name: string, { usage, summary, options, help }: Command) =>
	[
		`tempost ${name} ${usage}\n`,
		`${summary}\n`,
		...Object.entries({ ...help, ...common.help }).map(([option, text]) => {
			const { type, short } = { ...common.options, ...options }[
				option
			] as Command['options'][string]
			const form = `${short ? `-${short}, ` : ''}--${option}${type === 'string' ? ' TEXT' : ''}`
			return `  ${form.padEnd(24)}${text}`
		}),
		'',
	].join('\n')

process.exitCode = await main(process.argv.slice(2))
