import { routes } from '../../client/routes.ts'
import { inWords } from '../parts/badge.tsx'

/** By method and path, as the audit log names them: the method of the client that makes the request. */
const methods = new Map(
	Object.entries(routes).map(([name, line]) => [line.split(' ').slice(0, 2).join(' '), name]),
)

/** `POST /campaigns/{id}/send` is `Campaigns: send`. */
export function actionInWords(action: string) {
	const name = methods.get(action)
	if (!name) return action
	const [group = '', method = ''] = name.split('.')
	const noun = inWords(separated(group))
	return method ? `${noun}: ${verbs[method] ?? separated(method)}` : noun
}

/** Where a method's name is a word of programmers. */
const verbs: Record<string, string> = { upsert: 'create or update' }

/** `regenerateKeys` is `regenerate keys`. */
const separated = (name: string) =>
	name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
