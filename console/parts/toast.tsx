import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { buttonClass } from './button.tsx'
import styles from './toast.module.css'

interface Message {
	title: string
	/** Takes back what was done. */
	undo?: () => void
}

/** Says what was done, in a corner, and where it can be undone offers that. */
export function useToast() {
	const { add, close } = Toast.useToastManager()
	return ({ title, undo }: Message) => {
		const id = add({
			title,
			timeout: undo ? 12_000 : 5000,
			...(undo && {
				actionProps: {
					children: 'Undo',
					onClick: () => {
						undo()
						close(id)
					},
				},
			}),
		})
	}
}

export const ToastProvider = ({ children }: { children: ReactNode }) => (
	<Toast.Provider>
		{children}
		<Toast.Portal>
			<Toast.Viewport className={styles.corner}>
				<Messages />
			</Toast.Viewport>
		</Toast.Portal>
	</Toast.Provider>
)

function Messages() {
	const { toasts } = Toast.useToastManager()
	return toasts.map((toast) => (
		<Toast.Root key={toast.id} toast={toast} className={styles.toast}>
			<Toast.Title className={styles.title} render={<p />} />
			{toast.actionProps && <Toast.Action className={buttonClass('quiet')} />}
			<Toast.Close className={styles.close} aria-label="Close">
				<X size={15} />
			</Toast.Close>
		</Toast.Root>
	))
}
