/** Restrictions on pages, applied to every session and every web contents. */
import type { Session, WebContents } from 'electron'
import { isAppAddress } from './origin.ts'

/** Denies all permissions; Electron grants each request by default. */
export function lockSession(session: Session): void {
  session.setPermissionRequestHandler((_contents, _permission, done) => done(false))
  session.setPermissionCheckHandler(() => false)
  session.setDevicePermissionHandler(() => false)
  session.webRequest.onBeforeRequest(({ url }, done) => {
    done({ cancel: !isAppAddress(url) && !/^(devtools|data|blob):/.test(url) })
  })
  session.on('will-download', (event) => event.preventDefault())
}

/** Denies popups, navigation to other origins, and embedded pages. */
export function lockContents(contents: WebContents): void {
  contents.setWindowOpenHandler(() => ({ action: 'deny' }))
  contents.on('will-navigate', (event) => {
    if (!isAppAddress(event.url)) event.preventDefault()
  })
  contents.on('will-frame-navigate', (event) => {
    if (!isAppAddress(event.url)) event.preventDefault()
  })
  contents.on('will-redirect', (event) => {
    if (!isAppAddress(event.url)) event.preventDefault()
  })
  contents.on('will-attach-webview', (event) => event.preventDefault())
  // Closes a window even if its page objects.
  contents.on('will-prevent-unload', (event) => event.preventDefault())
  // A content policy does not cover WebRTC: without this, and without name resolution (main.ts), a page could send data through
  // it.
  contents.setWebRTCIPHandlingPolicy('disable_non_proxied_udp')
}
