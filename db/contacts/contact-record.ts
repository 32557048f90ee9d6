import type { ContactData } from './contact.ts'
import { bool, json, orNull, type RowOf, text, timestamp, uuid } from '../sql-types.ts'

/** A contact as the API shows it. */
export const contactRecordColumns = {
	id: uuid,
	email: text,
	subscribed: bool,
	data: json<ContactData>(),
	createdAt: timestamp,
	updatedAt: timestamp,
}
export type ContactRecord = RowOf<typeof contactRecordColumns>

/** The same for an outer join that may find no contact. */
export const contactIfFound = orNull(contactRecordColumns)
export const isFound = <Row extends RowOf<typeof contactIfFound>>(
	row: Row,
): row is Row & ContactRecord => row.id !== null

/** Its columns, from a table or WITH query of this name. */
export const contactRecord = (c: string) =>
	`${c}.id, ${c}.email, ${c}.subscribed, ${c}.data, ${c}.created_at as "createdAt",
	${c}.updated_at as "updatedAt"`
