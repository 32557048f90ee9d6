import { useMemo, useState } from 'react'
import type { Contact } from '../../client/index.ts'
import { useSettled } from '../parts/use-settled.ts'

/** The reader for whom a preview is rendered. */
export interface Person {
	contact: Contact | null
	data: Record<string, unknown> | undefined
	/** Set if the typed data can't be read. */
	dataFault: string | undefined
	choose: (contact: Contact | null) => void
	typeData: (text: string) => void
}

export function usePerson(): Person {
	const [contact, choose] = useState<Contact | null>(null)
	const [typed, typeData] = useState('')
	const text = useSettled(typed)
	const { data, fault } = useMemo(() => readData(text), [text])
	return { contact, data, dataFault: fault, choose, typeData }
}

function readData(text: string): { data?: Record<string, unknown>; fault?: string } {
	if (text.trim() === '') return {}
	try {
		const data: unknown = JSON.parse(text)
		return isObject(data) ? { data } : { fault: 'Write an object, such as {"plan": "pro"}.' }
	} catch {
		return { fault: 'This is not JSON yet.' }
	}
}

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value)
