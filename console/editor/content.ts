import type { Template } from '../../client/index.ts'

/** A mail before it is rendered: the part that templates and campaigns have in common. */
export type Content = Pick<
	Template,
	| 'name'
	| 'description'
	| 'subject'
	| 'body'
	| 'from'
	| 'fromName'
	| 'replyTo'
	| 'type'
	| 'language'
>

export const contentOf = (given: Content): Content => ({
	name: given.name,
	description: given.description,
	subject: given.subject,
	body: given.body,
	from: given.from,
	fromName: given.fromName,
	replyTo: given.replyTo,
	type: given.type,
	language: given.language,
})

/** A beginning for new content. */
export const firstContent: Content = {
	name: '',
	description: null,
	subject: 'Hello {{ firstName ?? first_name ?? "there" }}',
	body: '<h1>Hello {{ firstName ?? first_name ?? "there" }}</h1>\n\n<p>Write your mail here.</p>\n',
	from: '',
	fromName: null,
	replyTo: null,
	type: 'MARKETING',
	language: null,
}

export const types = [
	{ value: 'MARKETING', name: 'Marketing' },
	{ value: 'TRANSACTIONAL', name: 'Transactional' },
	{ value: 'HEADLESS', name: 'Headless' },
] as const satisfies { value: Content['type']; name: string }[]

export const typeHints: Record<Content['type'], string> = {
	MARKETING: 'To subscribed contacts, with a footer',
	TRANSACTIONAL: 'To everybody, without a footer',
	HEADLESS: 'No footer; /v1/send sends it to everybody',
}
