import { type ReactNode, Suspense } from 'react'
import { Waiting } from '../parts/waiting.tsx'

export const Suspended = ({ children }: { children: ReactNode }) => (
	<Suspense fallback={<Waiting />}>{children}</Suspense>
)
