import type { Document } from './document.ts'
import { type Method, methodsOf } from './methods.ts'
import { declared } from './types.ts'

const notice = '// Generated from the OpenAPI document by `npm run client`. Do not edit.\n'

/** The files of the client that follow from the document, by name. */
export function generate(document: Document): Record<string, string> {
	const methods = methodsOf(document)
	const names = methods.map(({ name }) => name)
	const twice = names.find((name, i) => names.indexOf(name) !== i)
	if (twice) throw new Error(`Two operations are named ${twice}: see client/generate/names.ts`)
	return { 'api.ts': api(document, methods), 'routes.ts': routes(methods) }
}

function api(document: Document, methods: Method[]) {
	const components = Object.entries(document.components.schemas).map(([name, schema]) =>
		declared(name, schema),
	)
	const groups = grouped(methods)
	const interfaces = [...groups].map(
		([group, members]) =>
			`export interface ${interfaceOf(group)} {\n${members.map(({ signature }) => signature).join('\n')}${group === '' ? places(groups) : ''}}\n\n`,
	)
	return [
		notice,
		"import type { ChangeOptions, FileInput, Paged, RequestOptions, WithReact } from './options.ts'\n\n",
		...components,
		...methods.map(({ types }) => types),
		...interfaces,
	].join('')
}

const interfaceOf = (group: string) =>
	group === '' ? 'Api' : `${group[0]!.toUpperCase()}${group.slice(1)}Api`

const places = (groups: Map<string, Method[]>) =>
	[...groups.keys()]
		.filter((group) => group !== '')
		.map((group) => `\n${group}: ${interfaceOf(group)}\n`)
		.join('')

/** The methods of each group; those of the client itself have the name ''. */
function grouped(methods: Method[]) {
	const groups = new Map<string, Method[]>([['', []]])
	for (const method of methods) {
		const group = method.name.includes('.') ? method.name.split('.')[0]! : ''
		groups.set(group, [...(groups.get(group) ?? []), method])
	}
	return groups
}

function routes(methods: Method[]) {
	const lines = methods.map(({ name, route }) => `\t'${name}': '${route}',\n`)
	return [
		notice,
		'/** By name: method, path, the credential, then `body`, `form`, `query` or `raw:TYPE`, `react` if it\n',
		' * may contain an element, `key` if the route takes an idempotency key, and `list`, `array`, `text`, `bytes` or `location` for answers that are not a JSON object,\n',
		' * and `503:MEMBERS` if a fault of that status may have the answer, which has these members. */\n',
		`export const routes: Record<string, string> = {\n${lines.join('')}}\n`,
	].join('')
}
