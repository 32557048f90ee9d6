import {
	type InputHTMLAttributes,
	type ReactNode,
	type SelectHTMLAttributes,
	type TextareaHTMLAttributes,
	useId,
	useState,
} from 'react'
import { TempostError } from '../../client/index.ts'
import styles from './field.module.css'

interface Labelled {
	label: string
	hint?: ReactNode
	/** Its message is shown below the control whose field it names. */
	error?: unknown
	/** The field in the API's words, where it is not the name of the control. */
	field?: string
}

type Named<Attributes> = Omit<Attributes, 'name'> & Labelled & { name: string }

export function TextField(props: Named<InputHTMLAttributes<HTMLInputElement>>) {
	const { rest, wrap, described } = useField(props)
	return wrap(
		<input type="text" autoComplete="off" {...rest} {...described} className={styles.control} />,
	)
}

export function TextArea(props: Named<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
	const { rest, wrap, described } = useField(props)
	return wrap(<textarea rows={4} {...rest} {...described} className={styles.control} />)
}

interface SelectProps extends Named<SelectHTMLAttributes<HTMLSelectElement>> {
	options: readonly { value: string; name: string }[]
}

export function Select({ options, ...props }: SelectProps) {
	const { rest, wrap, described } = useField(props)
	return wrap(
		<select {...rest} {...described} className={styles.control}>
			{options.map(({ value, name }) => (
				<option key={value} value={value}>
					{name}
				</option>
			))}
		</select>,
	)
}

export const Checkbox = ({
	label,
	hint,
	...rest
}: Omit<InputHTMLAttributes<HTMLInputElement>, 'type'> & Pick<Labelled, 'label' | 'hint'>) => (
	<label className={styles.check}>
		<input type="checkbox" {...rest} />
		<span>
			{label}
			{hint && <span className={styles.hint}>{hint}</span>}
		</span>
	</label>
)

/** Any control with a label, a hint and its fault below. */
export function Labelled({
	children,
	...props
}: Labelled & { name: string; children: (described: Described) => ReactNode }) {
	const { wrap, described } = useField(props)
	return wrap(children(described))
}

interface Described {
	id: string
	'aria-describedby': string
	'aria-invalid': boolean
}

function useField<Props extends Labelled & { name: string }>(props: Props) {
	const { label, hint, error, field, ...rest } = props
	const id = useId()
	// A fault is about the value that was sent, and not about the one that is being typed.
	const [corrected, setCorrected] = useState<unknown>()
	const fault = error === corrected ? undefined : faultOf(error, field ?? props.name)
	const described: Described = {
		id,
		'aria-describedby': `${id}-about`,
		'aria-invalid': fault !== undefined,
	}
	const wrap = (control: ReactNode) => (
		<div className={styles.field} onInput={() => setCorrected(error)}>
			<label htmlFor={id}>{label}</label>
			{control}
			<div id={`${id}-about`} className={styles.about}>
				{fault && <span className={styles.fault}>{fault}</span>}
				{hint && <span className={styles.hint}>{hint}</span>}
			</div>
		</div>
	)
	return { rest, wrap, described }
}

function faultOf(error: unknown, field: string) {
	if (!(error instanceof TempostError)) return undefined
	return error.fields.find((one) => one.field === field || one.field.startsWith(`${field}.`))
		?.message
}
