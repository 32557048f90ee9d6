import type { ButtonHTMLAttributes, ReactNode } from 'react'
import styles from './button.module.css'

type Kind = 'plain' | 'primary' | 'quiet' | 'danger'

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
	kind?: Kind
	/** While what it does is under way: it can't be pressed again, and keeps its size and the focus. */
	isBusy?: boolean
	icon?: ReactNode
}

export const buttonClass = (kind: Kind = 'plain') => `${styles.button} ${styles[kind]}`

export function Button({
	kind = 'plain',
	isBusy = false,
	icon,
	children,
	onClick,
	...rest
}: Props) {
	return (
		<button
			type="button"
			{...rest}
			className={buttonClass(kind)}
			aria-disabled={isBusy || undefined}
			aria-busy={isBusy}
			onClick={isBusy ? (event) => event.preventDefault() : onClick}
		>
			{icon}
			{children}
		</button>
	)
}

/** Only an icon to be seen; `name` says what it does. */
export function IconButton({
	name,
	icon,
	...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { name: string; icon: ReactNode }) {
	return (
		<button type="button" {...rest} className={styles.icon} aria-label={name} title={name}>
			{icon}
		</button>
	)
}
