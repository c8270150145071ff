/** pushed.js: what the answers of the scripts that push mean. */
import { WrongProtocol } from "./errors.js";

const RESULTS = { PUSHED: "pushed", REPLACED: "replaced", AGAIN: "again", EXISTS: "exists" };

/** Returns an error about an answer that means nothing here; what became of the job is not known. */
export function strange(answer) {
    const said = JSON.stringify(String(answer).slice(0, 40));
    return new WrongProtocol(`the answer ${said} to a push is not known to this client, which is older than its ` +
        "scripts: take the client that came with the laterd that serves the queue");
}

/** Returns what became of a job; null means that the queue is full. */
export function pushedOf(id, answer) {
    const [word, state = ""] = answer.split(" ");
    if (word === "FULL") return null;
    if (word === "WAITING") return { id, result: "pushed", state: "waiting" };
    if (!Object.hasOwn(RESULTS, word)) throw strange(answer);
    return { id, result: RESULTS[word], state };
}
