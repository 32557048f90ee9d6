import { type FormEvent, type MouseEvent, type ReactNode, useEffect, useRef } from 'react'
import { Button } from './button.tsx'
import { Fault } from './fault.tsx'
import styles from './form.module.css'
import { textOf } from './text-of.ts'
import { useLeaving } from './use-leaving.ts'

interface Props {
	/** The button: an act, such as "Add domain". */
	act: string
	onSubmit: (values: FormValues) => void
	isBusy?: boolean
	error?: unknown
	cancel?: () => void
	/** It takes a while to fill in: leaving it otherwise than by Cancel asks first. */
	isLong?: boolean
	children: ReactNode
}

/** The values of the form's controls, by their names. */
export class FormValues {
	private data: FormData

	constructor(data: FormData) {
		this.data = data
	}

	/** With spaces at its ends, which may belong to a password. */
	exact(name: string) {
		return textOf(this.data.get(name))
	}

	text = (name: string) => this.exact(name).trim()
	/** undefined when it was left empty. */
	optional = (name: string) => this.text(name) || undefined
	isChecked = (name: string) => this.data.has(name)
	all = (name: string) => this.data.getAll(name).map(String)
}

export function Form({
	act,
	onSubmit,
	isBusy = false,
	error,
	cancel,
	isLong = false,
	children,
}: Props) {
	const filled = useFilled(isLong, isBusy, error)
	const noteFocus = useFocusAfter(isBusy)
	function submit(event: FormEvent<HTMLFormElement>) {
		event.preventDefault()
		noteFocus()
		onSubmit(new FormValues(new FormData(event.currentTarget)))
	}
	/** Buttons among the fields, such as “Add a field”, change what is filled in, too. */
	function noteAct({ target }: MouseEvent) {
		const button = (target as Element).closest('button')
		if (button && !button.closest(`.${styles.acts}`)) filled.note()
	}
	return (
		<form
			className={styles.form}
			onSubmit={submit}
			onChange={filled.note}
			onClick={noteAct}
			noValidate
		>
			{/* Another page may follow, which would not have text that is typed now. */}
			<fieldset className={styles.fields} disabled={isBusy}>
				{children}
			</fieldset>
			<Fault error={error} />
			<div className={styles.acts}>
				<Button kind="primary" type="submit" isBusy={isBusy}>
					{act}
				</Button>
				{cancel && (
					<Button
						onClick={() => {
							filled.forget()
							cancel()
						}}
					>
						Cancel
					</Button>
				)}
			</div>
		</form>
	)
}

/** A field that is disabled loses the focus. It gets it back if the form is still there. */
function useFocusAfter(isBusy: boolean) {
	const focused = useRef<Element>(null)
	useEffect(() => {
		const field = focused.current
		if (isBusy || !(field instanceof HTMLElement)) return
		focused.current = null
		// Unless its writer has moved on.
		if (document.activeElement?.contains(field)) field.focus()
	}, [isBusy])
	return () => {
		focused.current = document.activeElement
	}
}

/** Asks before a form that was filled in is left, unless what was filled in is sent. */
function useFilled(isLong: boolean, isBusy: boolean, error: unknown) {
	const isFilled = useRef(false)
	const forget = () => {
		isFilled.current = false
	}
	const wasBusy = useRef(false)
	useEffect(() => {
		if (wasBusy.current && !isBusy && !error) forget()
		wasBusy.current = isBusy
	}, [isBusy, error])
	useLeaving({
		isUnsaved: () => isLong && isFilled.current && !isBusy,
		isKeptAt: (next, current) => next === current,
		lost: 'What you have filled in is lost.',
		onLeave: forget,
	})
	return {
		forget,
		note: () => {
			isFilled.current = true
		},
	}
}
