import { Copyable } from '../parts/copy.tsx'
import { Facts } from '../parts/figures.tsx'

/** The only moment at which a secret is shown. */
export const SecretOnce = ({ secret }: { secret: string }) => (
	<>
		<p>
			This secret is shown only now. Keep it on your server, and verify the signature of each
			request with it, so that nobody else can send you events. Any library for{' '}
			<a href="https://www.standardwebhooks.com" target="_blank" rel="noopener noreferrer">
				Standard Webhooks
			</a>{' '}
			does that.
		</p>
		<Facts facts={[['Secret', <Copyable text={secret} name="Copy the secret" />]]} />
	</>
)
