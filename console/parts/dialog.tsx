import { Dialog as Parts } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './dialog.module.css'

interface Props {
	title: string
	isOpen: boolean
	onClose: () => void
	isWide?: boolean
	children: ReactNode
}

/** Esc and a click beside it close it, and the focus returns to where it was. */
export const Dialog = ({ title, isOpen, onClose, isWide = false, children }: Props) => (
	<Parts.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
		<Parts.Portal>
			<Parts.Backdrop className={styles.veil} />
			<Parts.Popup className={styles.dialog} data-wide={isWide}>
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
