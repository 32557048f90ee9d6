import { TempostError } from './errors.ts'
import type { ReactElement, TempostOptions } from './options.ts'

type Render = NonNullable<TempostOptions['render']>

/** The input with HTML in place of `react`, in one mail or in each of several. */
export async function withRenderedReact(
	input: unknown,
	render: Render | undefined,
): Promise<unknown> {
	if (Array.isArray(input)) return Promise.all(input.map((one) => withRenderedReact(one, render)))
	if (typeof input !== 'object' || input === null || !('react' in input)) return input
	const { react, ...others } = input
	if (react === undefined) return others
	const html = await (render ?? (await installed()))(react as ReactElement)
	return { ...others, body: html }
}

/** Variables, so that a bundler does not require packages that most callers don't use. */
const packages = ['react-email', '@react-email/render']

async function installed(): Promise<Render> {
	let cause: unknown
	for (const name of packages) {
		try {
			const found = (await import(name)) as { render?: Render }
			if (found.render) return found.render
		} catch (error) {
			cause = error
		}
	}
	throw new TempostError('BAD_REQUEST', '`react` needs the package react-email', {
		cause,
		suggestion: 'Install react-email, or pass `render` to new Tempost().',
	})
}
