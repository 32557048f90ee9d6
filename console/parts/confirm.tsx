import { AlertDialog } from '@base-ui/react/alert-dialog'
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { buttonClass } from './button.tsx'
import styles from './dialog.module.css'

export interface Question {
	title: string
	/** What it will do, with counts. */
	body: ReactNode
	/** The act itself, such as "Delete 3 contacts". */
	act: string
	isDestructive?: boolean
}

type Ask = (question: Question) => Promise<boolean>
const Context = createContext<Ask>(() => Promise.resolve(false))

/** Asks before an act, and answers whether it shall be done. */
export const useConfirm = () => useContext(Context)

export function ConfirmProvider({ children }: { children: ReactNode }) {
	const [asked, setAsked] = useState<(Question & { answer: (is: boolean) => void }) | null>(null)
	const [isOpen, setOpen] = useState(false)
	const ask = useCallback<Ask>(
		(question) =>
			new Promise((answer) => {
				setAsked({ ...question, answer })
				setOpen(true)
			}),
		[],
	)
	const answer = (is: boolean) => {
		asked?.answer(is)
		setOpen(false)
	}
	return (
		<Context value={ask}>
			{children}
			<AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && answer(false)}>
				<AlertDialog.Portal>
					<AlertDialog.Backdrop className={styles.veil} />
					<AlertDialog.Popup className={styles.dialog}>
						<AlertDialog.Title render={<h2 />} className={styles.head}>
							{asked?.title}
						</AlertDialog.Title>
						<AlertDialog.Description render={<div />} className={styles.body}>
							{asked?.body}
						</AlertDialog.Description>
						<div className={styles.acts}>
							<AlertDialog.Close className={buttonClass()}>Cancel</AlertDialog.Close>
							<button
								type="button"
								className={buttonClass(asked?.isDestructive ? 'danger' : 'primary')}
								onClick={() => answer(true)}
							>
								{asked?.act}
							</button>
						</div>
					</AlertDialog.Popup>
				</AlertDialog.Portal>
			</AlertDialog.Root>
		</Context>
	)
}
