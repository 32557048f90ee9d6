import {
	bool,
	json,
	orNull,
	type RowOf,
	storedJson,
	type SqlType,
	text,
	timestamp,
	uuid,
} from '../sql-types.ts'
import type { ContactData } from './contact.ts'

const withData = <T extends SqlType<unknown, unknown>>(data: T) => ({
	id: uuid,
	email: text,
	subscribed: bool,
	data,
	createdAt: timestamp,
	updatedAt: timestamp,
})

/** A contact whose data is read. */
export const contactColumns = withData(json<ContactData>())
export type ContactRow = RowOf<typeof contactColumns>

/** A contact that the API only shows. */
export const contactRecordColumns = withData(storedJson)
export type ContactRecord = RowOf<typeof contactRecordColumns>

/** The same for an outer join that may find no contact. */
export const contactIfFound = orNull(contactRecordColumns)
export const isFound = <Row extends RowOf<typeof contactIfFound>>(
	row: Row,
): row is Row & ContactRecord => row.id !== null

const selected = (c: string, data: string) =>
	`${c}.id, ${c}.email, ${c}.subscribed, ${data}, ${c}.created_at as "createdAt",
	${c}.updated_at as "updatedAt"`

/** `contactColumns`, from a table or WITH query of this name. */
export const contactFrom = (c: string) => selected(c, `${c}.data`)

/** `contactRecordColumns`, from a table or WITH query of this name. */
export const contactRecordFrom = (c: string) => selected(c, `${c}.data::text as data`)
