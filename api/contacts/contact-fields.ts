import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool, PoolClient } from 'pg'
import { fieldTypes } from '../../db/contacts/contact-field.ts'
import {
	countFields,
	type FieldCount,
	foldFields,
	listFieldValues,
	mostFields,
	holdFields,
	recountField,
} from '../../db/contacts/contact-fields.ts'
import { countInTurn, readOrScan } from '../../db/timed-reading.ts'
import { transaction } from '../../db/transaction.ts'
import { notFound, tooMuchToRead } from '../errors.ts'

const standardFields = [
	{ field: 'email', type: 'string', coverage: 100 },
	{ field: 'subscribed', type: 'boolean', coverage: 100 },
	{ field: 'createdAt', type: 'date', coverage: 100 },
	{ field: 'updatedAt', type: 'date', coverage: 100 },
] as const

const tags = ['contacts']
const config = { auth: 'secret key or session' } as const
export const FieldParams = Type.Object({
	field: Type.String({
		description: 'A standard field, or a custom one with or without `data.` before it',
	}),
})

const maxWaiting = 4096
/** For counting the fields of all contacts. */
const mostMs = 5000

export const contactFields: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/contacts/fields',
		{
			config,
			schema: {
				tags,
				summary: 'List the fields that contacts have',
				description: `Each custom field has its most frequent type and the percentage of contacts that have it. At most ${mostFields} custom fields are listed, the most frequent ones.`,
				response: {
					200: Type.Object({
						fields: Type.Array(
							Type.Object({
								field: Type.String(),
								type: Type.Enum([...fieldTypes]),
								coverage: Type.Integer({ minimum: 0, maximum: 100 }),
							}),
						),
						count: Type.Integer(),
					}),
				},
			},
		},
		async ({ project }) => {
			const fields = await fieldsOfContacts(pool, project.id)
			return { fields, count: fields.length }
		},
	)

	app.get(
		'/contacts/fields/:field/values',
		{
			config,
			schema: {
				tags,
				summary: 'List the distinct values of a custom field',
				description:
					'Sorted: texts of up to 500 characters, numbers, then booleans. Objects and arrays are left out.',
				params: FieldParams,
				querystring: Type.Object({
					limit: Type.Integer({ minimum: 1, default: 100, description: 'At most 200' }),
				}),
				response: {
					200: Type.Object({
						field: Type.String(),
						values: Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
						count: Type.Integer(),
						limit: Type.Integer(),
					}),
				},
			},
		},
		async ({ project, params: { field }, query }) => {
			const limit = Math.min(query.limit, 200)
			const values = isStandard(field) ? standardValues(field) : await valuesOf(field)
			return { field, values: values.slice(0, limit), count: Math.min(values.length, limit), limit }

			async function valuesOf(given: string) {
				const wanted = { projectId: project.id, field: keyOf(given) }
				const [kept] = await listFieldValues(pool, { ...wanted, limit })
				if (kept!.isComplete) return kept!.values
				return countInTurn(project.id, (timeLimit) =>
					transaction(pool, (db) => recounted(db, { ...wanted, limit }), timeLimit),
				)
			}
		},
	)
}

async function recounted(
	db: PoolClient,
	wanted: { projectId: string; field: string; limit: number },
) {
	await holdFields(db, wanted)
	const [known] = await listFieldValues(db, wanted)
	if (known!.isComplete) return known!.values
	await recountField(db, wanted)
	const [counted] = await listFieldValues(db, wanted)
	return counted!.values
}

export async function fieldsOfContacts(pool: Pool, projectId: string) {
	const counts = await readOrScan(pool, projectId, mostMs, (db) => countFields(db, { projectId }))
	if (!counts) throw tooManyFields()
	if (counts.length > 0 && counts[0]!.waiting > maxWaiting) await foldFields(pool, { projectId })
	return [...standardFields, ...customFields(counts)]
}

const tooManyFields = () =>
	tooMuchToRead(
		'Your contacts have too many fields to count them',
		'Delete fields that you don’t need, or ask again in a moment.',
	)

export const isStandard = (field: string) =>
	standardFields.some((standard) => standard.field === field)
const standardValues = (field: string) => (field === 'subscribed' ? [true, false] : [])

/** No key is empty: '' counts the contacts themselves. */
export function keyOf(field: string) {
	const key = field.startsWith('data.') ? field.slice(5) : field
	if (key === '') throw notFound('field', field)
	return key
}

/** The rows are sorted by key, each key's most frequent type first. */
function customFields(counts: FieldCount[]) {
	const contacts = counts.filter(({ key }) => key === '').reduce((sum, row) => sum + row.count, 0)
	const byKey = Map.groupBy(
		counts.filter(({ key }) => key !== ''),
		({ key }) => key,
	)
	return [...byKey].map(([key, rows]) => {
		const count = rows.reduce((sum, row) => sum + row.count, 0)
		const coverage = Math.round((100 * count) / contacts)
		return { field: `data.${key}`, type: rows[0]!.type, coverage }
	})
}
