import { Ajv2020 } from 'ajv/dist/2020.js'
import test from 'ava'
import { errorCodes } from '../api/errors.ts'
import { conditionProblems } from '../api/conditions/conditions.ts'
import { setup } from './helpers/app.ts'
import {
	bodiesOf,
	componentOf,
	type Document,
	operationsOf,
	type Schema,
	schemasOf,
	walk,
} from './helpers/openapi.ts'

async function documentOf(t: Parameters<typeof setup>[0]) {
	const { app } = await setup(t)
	return (await app.inject('/openapi.json')).json<Document>()
}

/** The document's schemas in the form that a validator reads. */
function checker(document: Document) {
	const ajv = new Ajv2020({ strict: false, validateFormats: false })
	ajv.addSchema({ $id: 'doc', components: document.components })
	return (schema: Schema) =>
		ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/')) as Schema)
}

test('every operation documents its surprising behaviour', async (t) => {
	const operations = operationsOf(await documentOf(t))
	t.true(operations.length > 100)
	const silent = operations.filter(
		({ operation: { summary, description } }) => !description || description === summary,
	)
	t.deepEqual(
		silent.map(({ name }) => name),
		[],
	)
})

test('every parameter of a request is described', async (t) => {
	const parameters = operationsOf(await documentOf(t)).flatMap(({ name, operation }) =>
		(operation.parameters ?? []).map((parameter) => ({
			name: `${name} ${parameter.name}`,
			parameter,
		})),
	)
	const silent = parameters.filter(
		({ parameter }) => !parameter.description && !parameter.schema.description,
	)
	t.deepEqual(
		silent.map(({ name }) => name),
		[],
	)
})

test('every property of a request body is described', async (t) => {
	const document = await documentOf(t)
	const seen = new Set<string>()
	const silent = new Set<string>()
	for (const { name, schema } of bodiesOf(document))
		for (const { schema: node, path } of walk(schema, name, { document, seen }))
			for (const [property, one] of Object.entries(node.properties ?? {}))
				if (!one.description && !componentOf(document, one)?.schema.description)
					silent.add(`${path}.${property}`)
	t.deepEqual([...silent], [])
})

test('every request body has an example, and its schema allows it', async (t) => {
	const document = await documentOf(t)
	const compile = checker(document)
	for (const { name, schema, examples } of bodiesOf(document)) {
		t.true(examples.length > 0, name)
		const isValid = compile(schema)
		for (const example of examples)
			t.true(isValid(example), `${name}: ${JSON.stringify(isValid.errors)}`)
	}
})

test('no schema repeats a component, and none depends on an if', async (t) => {
	const document = await documentOf(t)
	const bare = (schema: Schema) => JSON.stringify({ ...schema, description: undefined })
	const components = new Map(
		Object.entries(document.components.schemas).map(([name, schema]) => [bare(schema), name]),
	)
	const repeated: string[] = []
	for (const { schema, path } of schemasOf(document)) {
		const name = components.get(bare(schema))
		if (name !== undefined) repeated.push(`${path} is ${name}`)
		for (const keyword of ['if', 'then', 'else', 'title', 'x-documented', 'x-message'])
			t.false(keyword in schema, `${path} ${keyword}`)
	}
	t.deepEqual(repeated, [])
})

test('one of several schemas is distinguished by its discriminator', async (t) => {
	const document = await documentOf(t)
	for (const schema of Object.values(document.components.schemas)) {
		if (!schema.oneOf) continue
		const { propertyName, mapping } = schema['discriminator'] as {
			propertyName: string
			mapping: Record<string, string>
		}
		for (const [value, $ref] of Object.entries(mapping)) {
			const member = componentOf(document, { $ref })!.schema.properties![propertyName]!
			t.true([member['const'], ...((member['enum'] as unknown[]) ?? [])].includes(value), value)
		}
	}
	for (const name of ['Condition', 'Filter', 'Step', 'NewStep', 'Contact', 'Campaign', 'Template'])
		t.truthy(document.components.schemas[name], name)
	for (const name of ['Segment', 'Workflow', 'Execution', 'Email', 'ImportJob', 'BulkJob'])
		t.truthy(document.components.schemas[name], name)
})

test('every code of an error is in the document', async (t) => {
	const { components } = await documentOf(t)
	t.deepEqual(components.schemas['ErrorCode']!['enum'], [...errorCodes])
})

const tree = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] })
const conditions: unknown[] = [
	tree({ field: 'data.plan', operator: 'equals', value: 'pro' }),
	tree({ field: 'data.plan', operator: 'equals', value: null }),
	tree({ field: 'data.plan', operator: 'exists' }),
	tree({ field: 'event.login', operator: 'triggeredWithin', value: 30, unit: 'days' }),
	{
		logic: 'OR',
		groups: [
			{ filters: [], conditions: tree({ field: 'email', operator: 'contains', value: 'a' }) },
		],
	},
	tree({ field: 'data.plan', operator: 'equals' }),
	tree({ field: 'event.login', operator: 'triggeredWithin', value: 30 }),
	tree({ field: 'event.login', operator: 'triggeredWithin', value: 30, unit: 'weeks' }),
	tree({ field: 'data.plan', operator: 'is', value: 1 }),
	tree({ field: 'data.plan', operator: 'exists', more: 1 }),
	{ logic: 'XOR', groups: [] },
	{ groups: [{ filters: [{ field: 'email', operator: 'equals', value: 'a' }] }] },
]

test('the document and the API agree on conditions', async (t) => {
	const isValid = checker(await documentOf(t))({ $ref: '#/components/schemas/Condition' })
	for (const condition of conditions)
		t.is(
			isValid(condition),
			conditionProblems(condition, 'condition').length === 0,
			JSON.stringify(condition),
		)
})
