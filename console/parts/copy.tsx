import { Check, Copy } from 'lucide-react'
import { type RefObject, useRef, useState } from 'react'
import { IconButton } from './button.tsx'
import styles from './copy.module.css'
import { useToast } from './toast.tsx'

interface Props {
	text: string
	name?: string
	/** Where the text is. */
	shown: RefObject<HTMLElement | null>
}

/** Copies a text, and shows for a moment that it has. */
function CopyButton({ text, name = 'Copy', shown }: Props) {
	const [isCopied, setCopied] = useState(false)
	const toast = useToast()
	async function copy() {
		try {
			await navigator.clipboard.writeText(text)
		} catch {
			// Browsers have no clipboard on pages without HTTPS, or may be told not to use it.
			getSelection()?.selectAllChildren(shown.current!)
			toast({ title: 'The text is selected. Press Ctrl-C or ⌘C to copy it' })
			return
		}
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
export function Copyable({ text, name }: { text: string; name?: string }) {
	const shown = useRef<HTMLElement>(null)
	return (
		<span className={styles.copyable}>
			<code ref={shown}>{text}</code>
			<CopyButton text={text} shown={shown} {...(name && { name })} />
		</span>
	)
}

/** Lines of code, to be copied. */
export function Code({ text, name }: { text: string; name: string }) {
	const shown = useRef<HTMLPreElement>(null)
	return (
		<div className={styles.code}>
			<pre ref={shown} tabIndex={0} aria-label={name}>
				{text}
			</pre>
			<div className={styles.copy}>
				<CopyButton text={text} shown={shown} name={`Copy ${name}`} />
			</div>
		</div>
	)
}
