import {
	createContext,
	lazy,
	type ReactNode,
	Suspense,
	useCallback,
	useContext,
	useRef,
	useState,
} from 'react'

// Few visits ask anything.
const QuestionDialog = lazy(() => import('./question.tsx'))

export interface Question {
	title: string
	/** What it will do, with counts. */
	body: ReactNode
	/** The act itself, such as "Delete 3 contacts". */
	act: string
	/** The way back, where `Cancel` could be mistaken for the act. */
	back?: string
	isDestructive?: boolean
}

type Ask = (question: Question) => Promise<boolean>
const Context = createContext<Ask>(() => Promise.resolve(false))

/** Asks before an act, and answers whether it shall be done. */
export const useConfirm = () => useContext(Context)

export function ConfirmProvider({ children }: { children: ReactNode }) {
	const [asked, setAsked] = useState<(Question & { answer: (is: boolean) => void }) | null>(null)
	const [isOpen, setOpen] = useState(false)
	const last = useRef<(is: boolean) => void>(undefined)
	const ask = useCallback<Ask>(
		(question) =>
			new Promise((answer) => {
				// A question that gives way to another is answered with no: whoever asked it waits.
				last.current?.(false)
				last.current = answer
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
			<Suspense>
				{asked && <QuestionDialog question={asked} isOpen={isOpen} answer={answer} />}
			</Suspense>
		</Context>
	)
}
