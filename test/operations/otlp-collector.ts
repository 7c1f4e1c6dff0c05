import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface Span {
  /** What made it: `@opentelemetry/instrumentation-http`, or the service. */
  readonly scope: string;
  readonly name: string;
  readonly service: unknown;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly Attribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

interface Attribute {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly arrayValue?: { readonly values: readonly { readonly stringValue: string }[] };
  };
}

type ExportedSpan = Omit<Span, 'scope' | 'service'>;

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly ExportedSpan[];
    }[];
  }[];
}

/** Takes spans by OTLP over HTTP, as JSON. */
export class OtlpCollector {
  readonly spans: Span[] = [];
  readonly #server = createServer((request, response) => {
    void (async () => {
      const body = (await json(request)) as Partial<ExportRequest>;
      for (const { resource, scopeSpans } of body.resourceSpans ?? []) {
        const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue;
        for (const { scope, spans } of scopeSpans) {
          for (const span of spans) this.spans.push({ ...span, scope: scope.name, service });
        }
      }
      response.setHeader('content-type', 'application/json').end('{}');
    })();
  });

  static async start(): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    return collector;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
