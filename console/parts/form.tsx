import { type FormEvent, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Fault } from './fault.tsx'
import styles from './form.module.css'

interface Props {
	/** The button: an act, such as "Add domain". */
	act: string
	onSubmit: (values: FormValues) => void
	isBusy?: boolean
	error?: unknown
	cancel?: () => void
	children: ReactNode
}

/** The values of the form's controls, by their names. */
export class FormValues {
	private data: FormData

	constructor(data: FormData) {
		this.data = data
	}

	text(name: string) {
		const value = this.data.get(name)
		return typeof value === 'string' ? value.trim() : ''
	}

	/** undefined when it was left empty. */
	optional = (name: string) => this.text(name) || undefined
	isChecked = (name: string) => this.data.has(name)
	all = (name: string) => this.data.getAll(name).map(String)
}

export function Form({ act, onSubmit, isBusy = false, error, cancel, children }: Props) {
	function submit(event: FormEvent<HTMLFormElement>) {
		event.preventDefault()
		onSubmit(new FormValues(new FormData(event.currentTarget)))
	}
	return (
		<form className={styles.form} onSubmit={submit} noValidate>
			{children}
			<Fault error={error} />
			<div className={styles.acts}>
				<Button kind="primary" type="submit" isBusy={isBusy}>
					{act}
				</Button>
				{cancel && <Button onClick={cancel}>Cancel</Button>}
			</div>
		</form>
	)
}
