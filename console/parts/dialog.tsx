import { Dialog as Parts } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import styles from './dialog.module.css'

interface Props {
	title: string
	isOpen: boolean
	onClose: () => void
	isWide?: boolean
	children: ReactNode
}

const firstField = 'input:not([type="radio"], [type="checkbox"]), textarea'

/**
 * Esc and a click beside it close it, and the focus returns to where it was. So its first field gets the focus here:
 * an `autoFocus` inside would move it before the dialog knows where it was.
 */
export function Dialog({ title, isOpen, onClose, isWide = false, children }: Props) {
	const popup = useRef<HTMLDivElement>(null)
	return (
		<Parts.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
			<Parts.Portal>
				<Parts.Backdrop className={styles.veil} />
				<Parts.Popup
					className={styles.dialog}
					data-wide={isWide}
					ref={popup}
					initialFocus={() => popup.current?.querySelector<HTMLElement>(firstField) ?? true}
				>
					<header className={styles.head}>
						<Parts.Title render={<h2 />}>{title}</Parts.Title>
						<Parts.Close className={styles.close} aria-label="Close">
							<X size={18} />
						</Parts.Close>
					</header>
					{children}
				</Parts.Popup>
			</Parts.Portal>
		</Parts.Root>
	)
}
