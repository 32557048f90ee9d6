import { readFileSync, readdirSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import test from 'ava'
import { parse } from 'yaml'
import { consoleFolders, folders, settings } from '../build/freshness.ts'
import { entries } from '../build/processes.ts'
import { flags } from '../local/temporal.ts'
import { composeSchema } from './helpers/compose-schema.ts'

interface Service {
	command?: string[]
	ports?: string[]
	container_name?: string
	environment?: Record<string, string>
	depends_on?: Record<string, { condition: string }>
	healthcheck?: object
	volumes?: string[]
}

const root = join(import.meta.dirname, '..')
const read = (name: string) => readFileSync(join(root, name), 'utf8')
const text = read('docker-compose.yml')

// Substitutes variables as compose does: ${NAME:-default}, also nested. Required variables get a value.
const interpolated = text
	.replace(/\$\{(\w+):-(\$\{\w+:-[^}]*\}|[^${}]*|[^${}]*\$\{\w+:-[^}]*\})\}/g, (_, __, value) =>
		String(value).replace(/\$\{\w+:-([^}]*)\}/, '$1'),
	)
	.replace(/\$\{\w+:\?[^}]*\}/g, 'given')
const compose: { services: Record<string, Service>; volumes: object } = parse(interpolated, {
	merge: true,
})
const { services } = compose

test('docker-compose.yml follows the Compose Specification', (t) => {
	const isValid = new Ajv({ strict: false, validateFormats: false }).compile(composeSchema)
	t.true(isValid(compose), JSON.stringify(isValid.errors, null, 2))
	t.false(isValid({ services: { api: { imagge: 'x' } } }), 'mistakes are noticed')
	t.false(interpolated.includes('${'))
})

test('everything that a service depends on, mounts and names exists', (t) => {
	for (const { depends_on = {}, volumes = [] } of Object.values(services)) {
		for (const name of Object.keys(depends_on)) t.true(name in services, name)
		for (const volume of volumes) t.true(volume.split(':')[0]! in compose.volumes, volume)
	}
})

test('only the session secret must be given', (t) => {
	t.deepEqual(
		[...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name),
		['SESSION_SECRET'],
	)
	t.deepEqual([...text.matchAll(/\$\{\w+\}/g)], [], 'every other variable has a default')
})

test('the worker can be scaled', (t) => {
	for (const service of Object.values(services)) t.is(service.container_name, undefined)
	t.is(services['worker']!.ports, undefined)
})

test('the processes start after the tables are there', (t) => {
	for (const name of ['api', 'worker'])
		t.is(services[name]!.depends_on!['migrate']!.condition, 'service_completed_successfully')
	t.is(services['migrate']!.depends_on!['postgres']!.condition, 'service_healthy')
	for (const { depends_on: needed = {} } of Object.values(services))
		for (const [name, { condition }] of Object.entries(needed))
			if (condition === 'service_healthy') t.truthy(services[name]!.healthcheck, name)
})

test('every named volume is declared', (t) => {
	const used = Object.values(services).flatMap(({ volumes = [] }) => volumes)
	const names = new Set(used.map((volume) => volume.split(':')[0]!))
	t.deepEqual([...names].toSorted(), Object.keys(compose.volumes).toSorted())
})

test('Temporal runs with the settings of npm start', (t) => {
	const ours = flags({ file: '/data/temporal.db', namespace: 'default', isDurable: true }, 7233)
	const differs = /^--(ip|port|ui-port|headless)/
	const settings = (list: string[]) => list.filter((flag) => !differs.test(flag)).toSorted()
	t.deepEqual(settings(services['temporal']!.command!.slice(2)), settings(ours))
})

test('the log of Postgres contains no personal data, as with npm start', (t) => {
	for (const setting of ['log_error_verbosity=terse', 'log_min_error_statement=panic'])
		t.true(String(services['postgres']!.command).includes(`-c ${setting}`))
})

test('an image runs our processes as an ordinary user, and checks the API’s health', (t) => {
	const image = read('Dockerfile')
		.split(/^FROM /m)
		.at(-1)!
	t.regex(image, /^USER node$/m)
	t.regex(image, /^HEALTHCHECK .*\n.*\/health/m)
	const commands = ['migrate', 'worker'].map((name) => services[name]!.command!)
	for (const command of [...commands, JSON.parse(/^CMD (.*)$/m.exec(image)![1]!)]) {
		t.deepEqual(command.slice(0, 2), ['node', 'build/run.ts'])
		t.true(entries.includes(command[2]))
	}
})

test('the image holds everything that its processes import', (t) => {
	const { dependencies } = JSON.parse(read('package.json'))
	const held = read('.dockerignore')
		.split('\n')
		.flatMap((line) => (line.startsWith('!') ? line.slice(1) : []))
	for (const name of [...folders, ...consoleFolders, ...settings]) t.true(held.includes(name), name)
	for (const folder of folders.filter((name) => !['build', 'local'].includes(name))) {
		for (const [file, name] of importsIn(folder)) {
			if (name.startsWith('.')) t.true(held.includes(topOf(join(dirname(file), name))), file)
			else if (!isBuiltin(name)) t.true(packageOf(name) in dependencies, `${name} in ${file}`)
		}
	}
})

function importsIn(folder: string): [string, string][] {
	return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => /\.tsx?$/.test(name))
		.flatMap((name) => {
			const source = read(join(folder, name))
			const found = source.matchAll(/^(?:import|export) (?!type\b)[^'"]*?from '([^']+)'/gm)
			return [...found].map(([, from]): [string, string] => [join(folder, name), from!])
		})
}

const topOf = (path: string) => path.split('/', 1)[0]!

const packageOf = (name: string) =>
	name
		.split('/')
		.slice(0, name.startsWith('@') ? 2 : 1)
		.join('/')
