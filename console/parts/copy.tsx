import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from './button.tsx'
import styles from './copy.module.css'

/** Copies a text, and shows for a moment that it has. */
export function CopyButton({ text, name = 'Copy' }: { text: string; name?: string }) {
	const [isCopied, setCopied] = useState(false)
	async function copy() {
		await navigator.clipboard.writeText(text)
		setCopied(true)
		setTimeout(() => setCopied(false), 1500)
	}
	return (
		<IconButton
			name={isCopied ? 'Copied' : name}
			icon={isCopied ? <Check size={15} /> : <Copy size={15} />}
			onClick={() => void copy()}
		/>
	)
}

/** A short text in the font of code, to be copied. */
export const Copyable = ({ text, name }: { text: string; name?: string }) => (
	<span className={styles.copyable}>
		<code>{text}</code>
		<CopyButton text={text} {...(name && { name })} />
	</span>
)

/** Lines of code, to be copied. */
export const Code = ({ text, name }: { text: string; name: string }) => (
	<div className={styles.code}>
		<pre tabIndex={0} aria-label={name}>
			{text}
		</pre>
		<div className={styles.copy}>
			<CopyButton text={text} name={`Copy ${name}`} />
		</div>
	</div>
)
