/**
 * Where events wait until the server has them: IndexedDB, else localStorage; when both fail, the page's memory is all.
 *
 * A row says which page it belongs to and where it is to be sent, so that any later page can send it.
 *
 * @typedef {{n: number, kind: string, ms: number, wall: number, [detail: string]: unknown}} LoggedEvent
 * @typedef {{page: string, n: number, url: string, event: LoggedEvent}} Row
 */

const NAME = 'prefcal';
const EVENTS = 'events';
const OPEN_TIMEOUT_MS = 3000;

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(EVENTS, { keyPath: ['page', 'n'] });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    setTimeout(reject, OPEN_TIMEOUT_MS, new Error('IndexedDB does not answer'));
  });
}

class Database {
  /** @type {Promise<IDBDatabase> | undefined} */
  #database;

  /** @param {Row[]} rows */
  put(rows) {
    return this.#run('readwrite', (events) => rows.map((row) => events.put(row)));
  }

  /** @param {string} page @param {number[]} numbers */
  remove(page, numbers) {
    return this.#run('readwrite', (events) => numbers.map((n) => events.delete([page, n])));
  }

  /** @returns {Promise<Row[]>} */
  async all() {
    const [request] = await this.#run('readonly', (events) => [events.getAll()]);
    return request.result;
  }

  /**
   * @template {IDBRequest} Request
   * @param {IDBTransactionMode} mode
   * @param {(events: IDBObjectStore) => Request[]} work
   * @returns {Promise<Request[]>} the requests, once the transaction is complete
   */
  async #run(mode, work) {
    this.#database ??= openDatabase();
    const database = await this.#database;
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(EVENTS, mode);
      transaction.oncomplete = () => resolve(requests);
      transaction.onabort = () => reject(transaction.error);
      const requests = work(transaction.objectStore(EVENTS));
      // Said aloud, a commit also survives a page that goes away in this very moment.
      transaction.commit?.();
    });
  }
}

class LocalStorage {
  /** @param {string} page @param {number} n */
  static #key(page, n) {
    return `${NAME} ${page} ${n}`;
  }

  /** @param {Row[]} rows */
  async put(rows) {
    for (const row of rows) localStorage.setItem(LocalStorage.#key(row.page, row.n), JSON.stringify(row));
  }

  /** @param {string} page @param {number[]} numbers */
  async remove(page, numbers) {
    for (const n of numbers) localStorage.removeItem(LocalStorage.#key(page, n));
  }

  /** @returns {Promise<Row[]>} */
  async all() {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(`${NAME} `));
    return keys.map((key) => JSON.parse(localStorage.getItem(key) ?? 'null')).filter(Boolean);
  }
}

/** All places together; no failure of one, be it a full disk or a forbidden API, ever leaves this class. */
export class Store {
  #places = [new Database(), new LocalStorage()];

  /** @param {Row[]} rows kept in the first place that takes them */
  async put(rows) {
    for (const place of this.#places) {
      try {
        await place.put(rows);
        return;
      } catch {
        // The next place, and after the last the page's memory, keeps them.
      }
    }
  }

  /** @param {string} page @param {number[]} numbers forgotten everywhere */
  async remove(page, numbers) {
    await Promise.allSettled(this.#places.map((place) => place.remove(page, numbers)));
  }

  /** @returns {Promise<Row[]>} what every place holds, in order of page and number */
  async all() {
    const found = await Promise.allSettled(this.#places.map((place) => place.all()));
    const rows = found.flatMap((place) => (place.status === 'fulfilled' ? place.value : []));
    return rows.sort((a, b) => a.page.localeCompare(b.page) || a.n - b.n);
  }
}
