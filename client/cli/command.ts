import type { Readable } from 'node:stream'
import type { ParseArgsConfig } from 'node:util'
import type { Tempost, TempostError } from '../index.ts'
import type { Output } from './output.ts'

export type Values = Record<string, string | boolean | string[] | undefined>

export interface Context {
	tempost: Tempost
	settings: Settings
	values: Values
	/** The words after the command. */
	words: string[]
	out: Output
	/** Aborted by Ctrl-C, and when nobody reads the output any more. */
	signal: AbortSignal
	/** Standard input, until Ctrl-C. */
	input(): Readable
}

export interface Settings {
	url: string
	secretKey?: string | undefined
	publicKey?: string | undefined
}

export interface Command {
	/** What follows the command's name. */
	usage: string
	/** How many words it takes. */
	mostWords: number
	summary: string
	options: NonNullable<ParseArgsConfig['options']>
	/** Each option with one line of help. */
	help: Record<string, string>
	/** Returns the exit code, if it is not 0. */
	run(context: Context): Promise<number | void>
}

/** Documented in docs/client.md. */
export const exitCodes = { done: 0, failed: 1, usage: 2, unreachable: 3 } as const

/** There is no answer to the request itself: the service cannot be reached, is overloaded, or has a fault. */
export const isAway = ({ code, status }: TempostError) =>
	['NETWORK_ERROR', 'TIMEOUT', 'RATE_LIMIT_EXCEEDED'].includes(code) || status >= 500

/** The caller's own mistake: shown with a hint at the help. */
export class UsageError extends Error {}

/** A word that was passed over is often the rest of a value: `--subject Your order`. */
export const tooMany = (word: string) =>
	new UsageError(`${word} is one word too many. Quote values that contain spaces.`)

export function textOf(values: Values, name: string) {
	const value = values[name]
	return typeof value === 'string' ? value : undefined
}

/** Why `fetch` failed, which its own message does not say. Several addresses that failed together have only a code. */
export function faultOf({ message, cause }: Error) {
	const reason = cause as { message?: string; code?: string } | undefined
	return reason?.message || reason?.code || message
}

/** A needed word after the command. */
export function wordOf({ words }: Context, name: string) {
	const [word] = words
	if (word === undefined || word === '') throw new UsageError(`${name} is missing`)
	return word
}
