export interface TempostOptions {
	/** The address of the service. By default `TEMPOST_URL`, or `http://localhost:3000`. */
	url?: string | undefined
	/** `sk_…`, for every route of a project except `track`. By default `TEMPOST_SECRET_KEY`. Keep it on servers. */
	secretKey?: string | undefined
	/** `pk_…`, only for `track`. By default `TEMPOST_PUBLIC_KEY`. */
	publicKey?: string | undefined
	/** The value of a person's session cookie. `auth.logIn` sets it, too. */
	session?: string | undefined
	/** The project that a person's requests are about. A key names its project by itself. */
	projectId?: string | undefined
	/** How long one try of a request may take: 30,000 by default. */
	timeoutMs?: number | undefined
	/** How often a request is repeated at most: 3 by default. */
	retries?: number | undefined
	/** Renders `react:`. By default `react-email`, when it is installed. */
	render?: ((element: ReactElement) => string | Promise<string>) | undefined
	/** Headers for every request. */
	headers?: Record<string, string> | undefined
	/** Replaces the global `fetch`. */
	fetch?: typeof globalThis.fetch | undefined
}

export interface RequestOptions {
	/** 1 to 255 printable ASCII characters; by default a new UUID. Only routes that document it take one. */
	idempotencyKey?: string | undefined
	timeoutMs?: number | undefined
	retries?: number | undefined
	signal?: AbortSignal | undefined
	headers?: Record<string, string> | undefined
	projectId?: string | undefined
}

/** Of a change that may be limited to the version that was read. */
export interface ChangeOptions extends RequestOptions {
	/** Its `updatedAt`: a record that has changed since is refused with CONFLICT. */
	unchangedSince?: string | undefined
}

/** The bytes of an upload. A `File` brings its own name. */
export type FileInput = Blob | Uint8Array<ArrayBuffer> | string

/** Any element that React made, described without React's own types. */
export interface ReactElement {
	type: unknown
	props: unknown
	key: string | null
}

/** The HTML of a mail, or a React Email element in its place. */
export type WithReact<Input> =
	| (Input & { react?: undefined })
	| (Omit<Input, 'body'> & { react: ReactElement; body?: undefined })

/** A page when awaited, and all items of this and the following pages when iterated. */
export interface Paged<Item, Page> extends Promise<Page>, AsyncIterable<Item> {}
