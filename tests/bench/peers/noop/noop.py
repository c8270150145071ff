"""noop.py: handlers that do nothing."""
import laterd

app = laterd.Handlers()


@app.on("null")
async def nothing(job: laterd.Job) -> None:
    pass
