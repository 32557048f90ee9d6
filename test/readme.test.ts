import { readFile } from 'node:fs/promises'
import test from 'ava'
import { envelope, ApiError } from '../api/errors.ts'

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8')

test('the README names every variable that a process reads', async (t) => {
	const readme = await read('README.md')
	const files = ['api', 'activities', 'activities/stripe'].map((folder) => `${folder}/settings.ts`)
	for (const file of [...files, 'db/environment.ts']) {
		const names = [...(await read(file)).matchAll(/^\t([A-Z][A-Z_0-9]+):/gm)].map(
			([, name]) => name!,
		)
		t.true(names.length > 2, file)
		for (const name of names) t.regex(readme, new RegExp(`\\b${name}\\b`))
	}
})

test('the commands of the README are those of package.json', async (t) => {
	const readme = await read('README.md')
	const { scripts } = JSON.parse(await read('package.json')) as { scripts: object }
	const named = [...readme.matchAll(/npm (?:run ([\w-]+)|(start|test)\b)/g)].map(
		([, script, short]) => (script ?? short)!,
	)
	for (const name of named) t.true(name in scripts, name)
	for (const name of Object.keys(scripts).filter((name) => !name.startsWith('pre')))
		t.true(named.includes(name), name)
})

test("the README's templates say that they are transactional", async (t) => {
	const created = (await read('README.md')).matchAll(/POST \/templates '(\{.*?\})'/g)
	const templates = [...created].map(([, body]) => JSON.parse(body!) as { type?: string })
	t.true(templates.length > 0)
	for (const { type } of templates) t.is(type, 'TRANSACTIONAL')
})

test('the error in the README has the members of a real one', async (t) => {
	const [, example] = /## Errors\s+```json\n([\s\S]*?)```/.exec(await read('README.md'))!
	const shown = JSON.parse(example!) as { error: object }
	const real = envelope(
		new ApiError(422, 'VALIDATION_ERROR', '', {
			errors: [{ field: 'to.1', message: '', code: 'invalid_string' }],
			suggestion: '',
		}),
		'id',
	)
	t.deepEqual(Object.keys(shown), Object.keys(real))
	const realKeys = Object.entries(real.error).filter(([, value]) => value !== undefined)
	t.deepEqual(
		Object.keys(shown.error),
		realKeys.map(([key]) => key),
	)
})
