import type { ContactData } from './contact.ts'

/** A contact as the API shows it. */
export interface ContactRecord {
	id: string
	email: string
	subscribed: boolean
	data: ContactData
	createdAt: Date
	updatedAt: Date
}

/** Its columns, of a table or a WITH by this name. */
export const contactRecord = (c: string) =>
	`${c}.id, ${c}.email, ${c}.subscribed, ${c}.data, ${c}.created_at as "createdAt",
	${c}.updated_at as "updatedAt"`
