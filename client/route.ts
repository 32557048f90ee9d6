export interface Route {
	/** `contacts.list` */
	name: string
	method: string
	/** With `{id}` for each id. */
	path: string
	access: 'secret' | 'public' | 'session' | 'either' | undefined
	input: 'body' | 'form' | 'query' | 'raw' | undefined
	/** The type of a raw body. */
	rawType: string | undefined
	/** `list` is a page of a list, and `array` a whole one. */
	answer: 'list' | 'array' | 'text' | 'bytes' | 'location' | undefined
	/** A fault's status whose body may be the answer, and the members that it has then. */
	fault: { status: number; members: string[] } | undefined
	takesKey: boolean
	/** Whether the body may have `react` in place of `body`. */
	takesReact: boolean
	/** Whether a second request after a lost answer does no harm. */
	isRepeatable: boolean
}

/** Reads a line of routes.ts. */
export function readRoute(name: string, line: string): Route {
	const [method = '', path = '', ...words] = line.split(' ')
	const one = <Word extends string>(...among: Word[]) => among.find((word) => words.includes(word))
	const rawType = words.find((word) => word.startsWith('raw:'))?.slice('raw:'.length)
	const [, status, members] = /^(\d{3}):(\S+)$/.exec(words.at(-1) ?? '') ?? []
	const takesKey = words.includes('key')
	return {
		name,
		method,
		path,
		access: one('secret', 'public', 'session', 'either'),
		input: rawType === undefined ? one('body', 'form', 'query') : 'raw',
		rawType,
		answer: one('list', 'array', 'text', 'bytes', 'location'),
		fault:
			members === undefined ? undefined : { status: Number(status), members: members.split(',') },
		takesKey,
		takesReact: words.includes('react'),
		isRepeatable: takesKey || method === 'GET' || method === 'PUT',
	}
}
