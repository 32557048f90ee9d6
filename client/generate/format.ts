import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** The text as `oxfmt` would leave it in a file of that name. */
export const formatted = (name: string, text: string) =>
	execFileSync(join(root, 'node_modules/.bin/oxfmt'), ['--stdin-filepath', `client/${name}`], {
		cwd: root,
		input: text,
		encoding: 'utf8',
	})
