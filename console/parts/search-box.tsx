import { useEffect, useRef, useState } from 'react'
import styles from './field.module.css'
import { enterList } from './list-keys.ts'

interface Props {
	value: string
	onChange: (value: string) => void
	name: string
}

const pauseMs = 250

/**
 * `/` leads here, Esc empties it, and the arrow down leads into the list. Tells its value once the reader pauses. Enter
 * submits no form around it, because what is found may still be that of the text before.
 */
export function SearchBox({ value, onChange, name }: Props) {
	const [typed, setTyped] = useState(value)
	const told = useRef(value)
	// A value that it told comes back late: the reader may have typed on.
	useEffect(() => {
		if (value !== told.current) setTyped(value)
		told.current = value
	}, [value])
	useEffect(() => {
		if (typed === value) return
		const timer = setTimeout(() => {
			told.current = typed
			onChange(typed)
		}, pauseMs)
		return () => clearTimeout(timer)
	}, [typed, value, onChange])
	return (
		<input
			type="search"
			className={`${styles.control} ${styles.search}`}
			aria-label={name}
			placeholder={`${name}  /`}
			value={typed}
			onChange={(event) => setTyped(event.target.value)}
			onKeyDown={(event) => {
				if (event.key === 'Enter') event.preventDefault()
				if (event.key === 'Escape' && typed !== '') {
					setTyped('')
					// A dialog around it stays open.
					event.stopPropagation()
				}
				if (event.key === 'ArrowDown' && enterList(event.currentTarget)) event.preventDefault()
			}}
		/>
	)
}
