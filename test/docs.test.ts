import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test from 'ava'
import { errorCodes, fieldCodes } from '../api/errors.ts'
import { examplesOf, readPage, runPage } from './helpers/doc-examples.ts'
import { install } from './helpers/installation.ts'

const root = join(import.meta.dirname, '..')
const inDocs = (await readdir(join(root, 'docs')))
	.filter((name) => name.endsWith('.md'))
	.map((name) => `docs/${name}`)
const pages = ['README.md', ...inDocs, 'CONTRIBUTING.md', 'CHANGELOG.md']

test('the examples of every page do what the page shows', async (t) => {
	t.timeout(300_000)
	const installation = await install(t)
	const problems = []
	for (const page of ['README.md', ...inDocs])
		problems.push(...(await runPage(page, installation)).map((problem) => `${page}: ${problem}`))
	t.deepEqual(problems, [])
})

test('the templates in the examples say whether they are transactional', async (t) => {
	const examples = (await Promise.all(pages.map(readPage))).flatMap(examplesOf)
	const created = examples.flatMap(({ commands }) => [
		...commands.matchAll(/POST \/templates '(\{.*?\})'/gs),
	])
	t.true(created.length > 0)
	for (const [, body] of created)
		t.is((JSON.parse(body!) as { type?: string }).type, 'TRANSACTIONAL')
})

test('the README has at most 200 lines and links to every page', async (t) => {
	const readme = await readPage('README.md')
	t.true(readme.split('\n').length <= 200)
	for (const page of inDocs) t.true(readme.includes(`](${page})`), page)
})

test('the README lists the commands of package.json', async (t) => {
	const readme = await readPage('README.md')
	const { scripts } = JSON.parse(await readPage('package.json')) as { scripts: object }
	const named = [...readme.matchAll(/npm (?:run ([\w-]+)|(start|test)\b)/g)].map(
		([, script, short]) => (script ?? short)!,
	)
	for (const name of named) t.true(name in scripts, name)
	for (const name of Object.keys(scripts).filter((name) => !name.startsWith('pre')))
		t.true(named.includes(name), name)
})

test('every link between pages leads to a heading that exists', async (t) => {
	for (const page of pages)
		for (const [, link] of (await readPage(page)).matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
			const [file, anchor] = link!.split('#')
			const target = file === '' ? page : join(dirname(page), file!)
			t.true(existsSync(join(root, target)), `${page}: ${link}`)
			if (anchor) t.true(anchorsOf(await readPage(target)).includes(anchor), `${page}: ${link}`)
		}
})

test('every file that a page names exists', async (t) => {
	const named = /`((?:api|workflows|activities|mail|outside|db|local|test|bench)\/[\w./-]+)`/g
	for (const page of pages)
		for (const [, path] of (await readPage(page)).matchAll(named))
			t.true(existsSync(join(root, path!)), `${page}: ${path}`)
})

test('every environment variable that a process reads is documented', async (t) => {
	const page = await readPage('docs/configuration.md')
	const folders = ['api', 'activities', 'local', 'outside/stripe']
	for (const file of [...folders.map((folder) => `${folder}/settings.ts`), 'db/environment.ts']) {
		const names = [...(await readPage(file)).matchAll(/^\t([A-Z][A-Z_0-9]+):/gm)]
		t.true(names.length > 2, file)
		for (const [, name] of names) t.regex(page, new RegExp(`\\b${name}\\b`))
	}
})

test('every error code is documented', async (t) => {
	const page = await readPage('docs/api-conventions.md')
	for (const code of [...errorCodes, ...fieldCodes]) t.regex(page, new RegExp(`\\b${code}\\b`))
})

const anchorsOf = (markdown: string) =>
	[...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
		heading!
			.toLowerCase()
			.replaceAll(/[^\w\- ]/g, '')
			.replaceAll(' ', '-'),
	)
