import { useState } from 'react'
import type { Contact } from '../../client/index.ts'
import { Checkbox, Select, TextField } from '../parts/field.tsx'
import { Form, type FormValues } from '../parts/form.tsx'
import { DataEditor } from './data-editor.tsx'
import { type DataRow, faultOf, rowsOf } from './data-rows.ts'

export interface ContactInput {
	email: string
	subscribed: boolean
	rows: DataRow[]
}

interface Props {
	/** The one that is edited. */
	contact?: Contact
	act: string
	onSubmit: (input: ContactInput) => void
	isBusy: boolean
	error: unknown
	cancel: () => void
}

/** The language is a field of data, with a choice of its own. */
const localeKey = 'locale'

export function ContactForm({ contact, act, onSubmit, isBusy, error, cancel }: Props) {
	const { [localeKey]: locale, ...others } = contact?.data ?? {}
	const [rows, setRows] = useState(() => rowsOf(others))
	const [fault, setFault] = useState<Error>()
	function submit(values: FormValues) {
		const isWrong = rows.some((row) => faultOf(row) !== undefined)
		setFault(isWrong ? new Error('Correct the marked fields of the data first') : undefined)
		if (isWrong) return
		const language: DataRow = { id: -1, key: localeKey, type: 'text', text: values.text('locale') }
		onSubmit({
			email: values.text('email'),
			subscribed: values.isChecked('subscribed'),
			rows: [...rows, language],
		})
	}
	const given = typeof locale === 'string' ? locale : ''
	return (
		<Form act={act} onSubmit={submit} isBusy={isBusy} error={fault ?? error} cancel={cancel} isLong>
			<TextField
				name="email"
				label="Email address"
				type="email"
				defaultValue={contact?.email}
				error={error}
				autoFocus={!contact}
			/>
			<Select
				name="locale"
				label="Language"
				hint="Of footers and of the pages for this person"
				defaultValue={given}
				options={languagesWith(given)}
				field="data.locale"
				error={error}
			/>
			<Checkbox
				name="subscribed"
				label="Subscribed"
				hint="Gets campaigns. Only with the person’s consent."
				defaultChecked={contact?.subscribed ?? true}
			/>
			<DataEditor rows={rows} onChange={setRows} error={error} />
		</Form>
	)
}

/** Those that the API has words for. */
const languages = [
	{ value: '', name: 'As in the project’s settings' },
	{ value: 'en', name: 'English' },
	{ value: 'de', name: 'German' },
	{ value: 'fr', name: 'French' },
	{ value: 'es', name: 'Spanish' },
	{ value: 'nl', name: 'Dutch' },
]

const languagesWith = (given: string) =>
	languages.some(({ value }) => value === given)
		? languages
		: [...languages, { value: given, name: given }]
