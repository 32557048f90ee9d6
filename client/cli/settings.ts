import { readFileSync } from 'node:fs'
import { isOfTheWeb } from '../address.ts'
import { type Settings, textOf, UsageError, type Values } from './command.ts'

/** Options before variables, and variables before an installation that `npm start` runs in this folder. */
export function readSettings(values: Values): Settings {
	const env = (name: string) => process.env[name] || undefined
	const local = installation()
	const chosen = textOf(values, 'url') ?? env('TEMPOST_URL')
	const url = (chosen ?? local?.apiUrl ?? 'http://localhost:3000').replace(/\/+$/, '')
	if (!isOfTheWeb(url))
		throw new UsageError(`The address ${url} is not valid. It begins with https:// or http://`)
	// The keys of one service are not sent to another.
	const own = local?.apiUrl === url ? local : undefined
	return {
		url,
		secretKey: textOf(values, 'key') ?? env('TEMPOST_SECRET_KEY') ?? own?.secretKey ?? undefined,
		publicKey:
			textOf(values, 'public-key') ?? env('TEMPOST_PUBLIC_KEY') ?? own?.publicKey ?? undefined,
	}
}

interface Installation {
	apiUrl: string
	secretKey: string | null
	publicKey: string | null
}

function installation(): Installation | undefined {
	try {
		return JSON.parse(readFileSync('.data/local.json', 'utf8')) as Installation
	} catch {
		return undefined
	}
}
