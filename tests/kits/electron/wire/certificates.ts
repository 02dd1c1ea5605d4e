/** CA of a site and certificates for loopback, created with the openssl command. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Reason why there are no certificates; empty if there are. */
export const noOpenssl = spawnSync('openssl', ['version']).status === 0 ? '' : 'there is no openssl command'
if (noOpenssl !== '') process.stderr.write(`tests of mutual TLS are skipped: ${noOpenssl}\n`)

const run = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' })
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'] as const

export interface CertificateFiles {
  readonly tlsCa: string
  readonly tlsCert: string
  readonly tlsKey: string
}

export class Authority {
  readonly #folder: string
  readonly #name: string

  constructor(folder: string, name: string) {
    this.#folder = folder
    this.#name = name
    run(
      'req',
      '-x509',
      ...NEW_KEY,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      this.#file('key'),
      '-out',
      this.#file('pem'),
    )
  }

  /** Files of a certificate with its key. @param subject  such as `IP:127.0.0.1`. */
  issue(name: string, subject = 'IP:127.0.0.1'): CertificateFiles {
    const of = (end: string): string => join(this.#folder, `${this.#name}-${name}.${end}`)
    run('req', ...NEW_KEY, '-subj', `/CN=${name}`, '-keyout', of('key'), '-out', of('csr'))
    writeFileSync(of('ext'), `subjectAltName=${subject}\nextendedKeyUsage=serverAuth,clientAuth\n`)
    const ca = ['-CA', this.#file('pem'), '-CAkey', this.#file('key'), '-CAcreateserial']
    run('x509', '-req', '-in', of('csr'), ...ca, '-days', '1', '-extfile', of('ext'), '-out', of('pem'))
    chmodSync(of('key'), 0o600)
    return { tlsCa: this.#file('pem'), tlsCert: of('pem'), tlsKey: of('key') }
  }

  #file(end: string): string {
    return join(this.#folder, `${this.#name}.${end}`)
  }
}
