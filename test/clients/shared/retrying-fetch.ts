// guide:begin retrying-fetch
/** How long a response may take until it is whole, and how long a stream may send nothing; it sends a line every 15 s. */
const silenceMillis = 20_000;
/** How long all attempts may take together. */
const patienceMillis = 120_000;

/**
 * `fetch` that sends again what can be repeated. When its time is over, or the service names a longer one, the result is
 * the last refusal of the service; it throws an error that says what was there instead.
 */
export async function retryingFetch(
  input: string | URL | Request,
  init?: RequestInit,
  patience = patienceMillis,
): Promise<Response> {
  const request = new Request(input, init);
  // With a key a POST is done once, however often it is sent; for a query it changes nothing.
  if (request.method === 'POST' && !request.headers.has('Idempotency-Key'))
    request.headers.set('Idempotency-Key', crypto.randomUUID());
  const endsAt = Date.now() + patience;
  for (let attempt = 1; ; attempt += 1) {
    const { response, refusal } = await send(request);
    if (response !== undefined && refusal === undefined) return response;
    const wait = waitMillis(attempt, refusal?.retryAfter);
    if (Date.now() + wait > endsAt) {
      if (response !== undefined && isJson(response)) return response;
      throw new Error(`${request.url}: ${refusal?.message}`);
    }
    await pause(wait, request.signal);
  }
}

/**
 * How long to wait before the next attempt: as long as the service says, and a random part more, of up to a second,
 * doubled with each attempt, up to a minute, so that many clients don't come back at the same moment.
 */
export function waitMillis(attempt: number, retryAfterSeconds = 0): number {
  return (retryAfterSeconds + Math.random() * Math.min(60, 2 ** (attempt - 1))) * 1000;
}

interface Refusal {
  readonly message: string;
  readonly retryAfter?: number | undefined;
}

/** One attempt. A `refusal` is why the request has to be sent again. */
async function send(request: Request): Promise<{ response?: Response; refusal?: Refusal }> {
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stopWatching = () => clearTimeout(timer);
  const watch = () => {
    stopWatching();
    timer = setTimeout(() => silence.abort(new Error('nothing came for 20 s')), silenceMillis);
  };
  watch();
  try {
    const response = await fetch(request.clone(), { signal: AbortSignal.any([request.signal, silence.signal]) });
    if (isStream(response)) {
      request.signal.addEventListener('abort', stopWatching);
      return { response: watched(response, watch, stopWatching) };
    }
    // The connection can end within the body as well: only a whole response says what has happened.
    const text = await response.clone().text();
    stopWatching();
    const refusal = refusalOf(response, text);
    return refusal === undefined ? { response } : { response, refusal };
  } catch (error) {
    stopWatching();
    request.signal.throwIfAborted();
    const { message, cause } = error as Error;
    return { refusal: { message: cause instanceof Error ? cause.message || message : message } };
  }
}

/** Undefined for what would be the same the next time. */
function refusalOf(response: Response, text: string): Refusal | undefined {
  const { status, statusText, headers } = response;
  const { message, errors = [] } = isJson(response) && text !== '' ? (JSON.parse(text) as Body) : {};
  const retryAfter = Number(headers.get('Retry-After')) || 0;
  // A 409 with Retry-After says that the same request is under way.
  if ([429, 502, 503, 504].includes(status) || (status === 409 && retryAfter > 0))
    return { message: message ?? errors[0]?.message ?? `${status} ${statusText}`, retryAfter };
  // In GraphQL a single field can be refused for a time.
  const field = errors.find(({ extensions }) => response.ok && extensions?.retryAfter !== undefined);
  return field && { message: field.message, retryAfter: field.extensions?.retryAfter };
}

interface Body {
  readonly message?: string;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly retryAfter?: number } }[];
}

function isJson({ headers }: Response): boolean {
  return /[/+]json\b/.test(headers.get('Content-Type') ?? '');
}

function isStream({ headers }: Response): boolean {
  return /^(?:text\/event-stream|multipart\/mixed)\b/.test(headers.get('Content-Type') ?? '');
}

/** The stream, with `watch` called at each of its chunks. */
function watched({ body, status, headers }: Response, watch: () => void, stopWatching: () => void): Response {
  const watching = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      watch();
      controller.enqueue(chunk);
    },
    flush: stopWatching,
  });
  return new Response(body?.pipeThrough(watching) ?? null, { status, headers });
}

function pause(millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, millis);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
// guide:end
