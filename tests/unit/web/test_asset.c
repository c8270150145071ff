/* test_web_asset.c: what the pages weigh, and where they are found. */
#include "http/asset.h"
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <string.h>

enum {
    MOST = 60000,        /* bytes of all that a browser loads in English, as they are sent */
    MOST_FIRST = 26000,  /* those of the first page */
    MOST_TONGUE = 16000, /* those of another language, besides */
    MOST_MAPS = 2000,    /* those of the maps, for which only a browser's tools ask */
};

static size_t weight(const char *path)
{
    const struct asset *asset = asset_find(path);

    ck_assert_msg(asset != NULL, "%s", path);
    return asset->packed_len;
}

static bool ends(const char *path, const char *with)
{
    return strlen(path) > strlen(with) && strcmp(path + strlen(path) - strlen(with), with) == 0;
}

/* A browser loads one catalogue, and that only if it is not English. */
TEST(light)
{
    size_t english = 0, catalogue = 0, maps = 0;

    for (size_t i = 0; i < asset_count; i++) {
        if (ends(assets[i].path, ".json"))
            catalogue = assets[i].packed_len > catalogue ? assets[i].packed_len : catalogue;
        else
            *(ends(assets[i].path, ".map") ? &maps : &english) += assets[i].packed_len;
    }
    english -= weight("/tongue.js");
    ck_assert_uint_le(english, MOST);
    ck_assert_uint_le(weight("/tongue.js") + catalogue, MOST_TONGUE);
    ck_assert_uint_le(maps, MOST_MAPS);
    ck_assert_uint_le(weight("/") + weight("/app.css") + weight("/icon.svg") + weight("/base.js") +
                          weight("/app.js") + weight("/live-worker.js"),
                      MOST_FIRST);
}

TEST(found)
{
    ck_assert_ptr_eq(asset_find("/"), asset_find("/index.html"));
    ck_assert_str_eq(asset_find("/more.js")->type, "text/javascript; charset=utf-8");
    ck_assert_str_eq(asset_find("/more.js.map")->type, "application/json");
    ck_assert_str_eq(asset_find("/de.json")->type, "application/json");
    ck_assert_ptr_null(asset_find("/dom.js"));
    ck_assert_ptr_null(asset_find("/app.js/"));
    ck_assert_ptr_null(asset_find(""));
}

/* Browsers keep what they have as long as its tag is the same. */
TEST(tags)
{
    for (size_t i = 0; i < asset_count; i++) {
        ck_assert_uint_eq(strlen(assets[i].tag), 18);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(assets[i].tag, assets[j].tag);
    }
}
