import type { Client } from '@temporalio/client'
import { attributeTypes, searchAttributes } from '../db/outbox/search-attributes.ts'

type Name = keyof typeof searchAttributes
const names = Object.keys(searchAttributes) as Name[]
const typeOf = (name: Name) => attributeTypes[searchAttributes[name]]

/**
 * Registers the search attributes that the namespace lacks. Returns whether executions may set theirs: an
 * unknown attribute would fail the workflow task, and Temporal Cloud or an authorizer may refuse to
 * register any.
 */
export async function registerSearchAttributes(
	{ connection, options: { namespace } }: Client,
	log: { warn(fields: object, message: string): void },
): Promise<boolean> {
	const { operatorService } = connection
	let missing = names
	try {
		const { customAttributes } = await operatorService.listSearchAttributes({ namespace })
		missing = names.filter((name) => customAttributes[name] !== typeOf(name))
		if (missing.length > 0)
			await operatorService.addSearchAttributes({
				namespace,
				searchAttributes: Object.fromEntries(missing.map((name) => [name, typeOf(name)])),
			})
		return true
	} catch (error) {
		const flags = missing.map((name) => `--name ${name} --type ${searchAttributes[name]}`).join(' ')
		const command = `temporal operator search-attribute create --namespace ${namespace} ${flags}`
		log.warn({ err: error, missing, command }, 'search attributes could not be registered')
		return !missing.includes('CurrentStep') && !missing.includes('WaitingSince')
	}
}
